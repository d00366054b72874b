//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLocation: the headers of a proxy that SVC_TRUSTED_PROXIES names reach request.cf,
// and a database that cannot be read stops the start.
func TestLocation(t *testing.T) {
	t.Parallel()
	d := started(t, "SVC_TRUSTED_PROXIES=127.0.0.1")
	v := d.deploy(worker(t, helloConfig, map[string]string{
		"index.js": `export default { fetch: (r) => Response.json([r.cf.country ?? null, r.headers.get("cf-ipcountry")]) }`,
	}), "--version", "v1")
	for _, want := range []struct{ said, seen string }{{"DE", `["DE","DE"]`}, {"", `[null,null]`}} {
		var headers []string
		if want.said != "" {
			headers = []string{"CF-IPCountry", want.said}
		}
		if a, err := fetch(t.Context(), d.http(), "GET", v.PreviewURL, "", headers...); err != nil || a.Body != want.seen {
			t.Errorf("%q: %+v, %v", want.said, a, err)
		}
	}
	file := filepath.Join(t.TempDir(), "city.mmdb")
	if err := os.WriteFile(file, []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := newDaemon(t, "SVC_GEOIP_DB="+file)
	if broken.start() {
		t.Fatal("it starts without its database")
	}
	if log := broken.log.String(); !strings.Contains(log, file) {
		t.Errorf("the log does not name the file: %s", log)
	}
}
