//go:build linux

package supervisor_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/host/confine"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestConfined: workerd serves without capabilities, behind a filter of system calls. On
// a kernel that cannot confine it, a version that requires that is refused.
func TestConfined(t *testing.T) {
	t.Parallel()
	h := start(t, func(c *options) { c.Host.Confine = svc.ConfineRequire })
	spec := h.spec(hello, nil)
	if !confine.Supported() {
		if err := h.Open(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Serve(t.Context(), spec.Ref); svc.CodeOf(err) != svc.CodeUnconfined {
			t.Errorf("Serve: %v", err)
		}
		return
	}
	e := h.mustServe(spec)
	h.want(e, "/", "hello")
	status, err := os.ReadFile("/proc/" + strconv.Itoa(e.WorkerdPID) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		want := map[string]string{"NoNewPrivs": "1", "Seccomp": "2"}[name]
		if want != "" && value != want {
			t.Errorf("%s is %s", name, value)
		}
		if name == "CapEff" && strings.Trim(value, "0") != "" && os.Geteuid() != 0 {
			t.Errorf("capabilities: %s", value)
		}
	}
	limits, err := os.ReadFile("/proc/" + strconv.Itoa(e.WorkerdPID) + "/limits")
	if err != nil || !strings.Contains(string(limits), "Max core file size        0                    0 ") {
		t.Errorf("limits: %s, %v", limits, err)
	}
}
