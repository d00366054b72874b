package bindingtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/host/workerd/workerdtest"
)

// Oracle are the bindings that workerd serves itself, by their names in env.
type Oracle struct {
	KV        []string
	Databases []string
	Workflows map[string]string // classes, by the name in env
}

// StartOracle runs the module source with workerd's own bindings, on data of
// the test's.
func StartOracle(t testing.TB, o Oracle, source string) *Worker {
	t.Helper()
	dir := Dir(t)
	writeFile(t, dir, "index.js", source)
	config := map[string]any{
		"name": "oracle", "main": "index.js", "no_bundle": true, "compatibility_date": compatibilityDate,
	}
	kv, databases := []map[string]string{}, []map[string]string{}
	for _, name := range o.KV {
		kv = append(kv, map[string]string{"binding": name, "id": "kv-" + name})
	}
	for _, name := range o.Databases {
		databases = append(databases, map[string]string{"binding": name, "database_name": name, "database_id": "db-" + name})
	}
	workflows := []map[string]string{}
	for name, class := range o.Workflows {
		workflows = append(workflows, map[string]string{"binding": name, "name": "flow", "class_name": class})
	}
	config["kv_namespaces"], config["d1_databases"], config["workflows"] = kv, databases, workflows
	text, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, dir, "wrangler.jsonc", string(text))
	p, ports := run(t, dir, []string{
		workerdtest.Binary(t), "serve", "--experimental", "--control-fd=3", "-s", "http=127.0.0.1:0", "wrangler.jsonc",
	}, func(workerd.LogLine) {}, "http")
	return &Worker{client: &http.Client{Timeout: 2 * time.Minute}, base: fmt.Sprintf("http://127.0.0.1:%d", ports["http"]), kill: p.kill}
}
