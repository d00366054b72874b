package supervisor_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/host/workerd"
)

// TestWorkerdHasNoProxy: a host gets the variables to reach the object store; workerd,
// whose environment workers can read, does not.
func TestWorkerdHasNoProxy(t *testing.T) {
	t.Parallel()
	own := []string{"PATH=/bin", "HOME=/nowhere", "TMPDIR=" + os.TempDir()}
	network := []string{
		"SSL_CERT_FILE=/ca.pem", "SSL_CERT_DIR=/ca", "HTTP_PROXY=http://user:password@proxy", "HTTPS_PROXY=http://user:password@proxy", "NO_PROXY=a",
		"http_proxy=http://user:password@proxy", "https_proxy=http://user:password@proxy", "no_proxy=a",
	}
	h := start(t, func(c *options) { c.Environ = append(own[:3:3], network...) })
	e := h.mustServe(h.spec(helloWorker, nil))
	if got, want := environ(t, e.PID), strings.Join(append(own[:3:3], network...), "\x00")+"\x00"; got != want {
		t.Errorf("the host has %q, want %q", got, want)
	}
	if got, want := environ(t, e.WorkerdPID), strings.Join(workerd.Environ(own), "\x00")+"\x00"; got != want {
		t.Errorf("workerd has %q, want %q", got, want)
	}
}

func environ(t *testing.T, pid int) string {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
