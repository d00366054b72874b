package services_test

import (
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/services"
	"github.com/svcctl/svcctl/internal/host/entry"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/host/workerd/workerdtest"
)

// idsScript makes ids of the objects of other workers.
const idsScript = `const attempt = (f) => { try { return f().toString(); } catch (e) { return e.name + ": " + e.message; } };
export default { fetch(request, { OLD, NEW, NONE }) {
  const id = OLD.idFromName("a").toString();
  const theirs = attempt(() => NEW.idFromString(id));
  return Response.json([id, NEW.idFromName("a").toString(), theirs.split(":")[0], attempt(() => NONE.idFromName("a")), attempt(() => NONE.getByName("a"))]);
} };`

// TestIDs: the ids of another worker's objects are those of its key: without a namespace the ones that
// they have always had. Without a key no id is made: a call with a wrong one would reach another object.
func TestIDs(t *testing.T) {
	t.Parallel()
	const absent = "Error: service none: service_not_found: there was no project none when this version started: deploy or wake this version again"
	want := []string{
		"27dcd956e4a4217db575d1329a19d264f354c7b94b04c561748c4374bcdf2543", // of the key Room
		"17b38319c37833724a01e13b16c6eaf9065d017ef422471683faf0517d76fd9c", // of the key n~Room
		"TypeError", absent, absent,
	}
	var got []string
	text := idsOfOthers(t, map[string]string{"OLD": "Room", "NEW": "n~Room", "NONE": ""})
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// idsOfOthers is what idsScript answers. keys are those of the class Room by the names of bindings.
func idsOfOthers(t *testing.T, keys map[string]string) []byte {
	t.Helper()
	dir := bindingtest.Dir(t)
	socket := filepath.Join(dir, "s")
	site := binding.Site{RunDir: dir, ObjectKeys: map[string]string{}}
	var wirings []binding.Wiring
	for name, key := range keys {
		project := strings.ToLower(name)
		site.ObjectKeys[services.ObjectKey(services.Target{Project: project}, "Room")] = key
		d := bundle.Binding{Name: name, Kind: "service", Resource: project, Config: json.RawMessage(`{"object_class": "Room"}`)}
		wirings = append(wirings, services.Kind{}.Wire(d, site))
	}
	worker := &workerd.Worker{
		Modules:           entry.Before([]workerd.Module{{Name: "index.js", Type: workerd.ESModule, Source: idsScript}}, false, false),
		CompatibilityDate: "2026-11-17",
	}
	config := workerd.Config{
		Services:   []workerd.Service{{Name: "main", Worker: worker}},
		Sockets:    []workerd.Socket{{Name: "http", Address: "unix:" + socket, Service: workerd.ServiceRef{Name: "main"}}},
		Extensions: entry.Extensions(0, false, false),
	}
	worker.Bindings = binding.AddTo(&config, wirings)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://worker.test/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := workerdtest.Serve(t, config, socket).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
