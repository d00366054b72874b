package daemon

import (
	"net"
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
)

// The way out that an error names is the one that helps.
func TestListenSaysWhatToChange(t *testing.T) {
	t.Parallel()
	taken, err := listenAt(t.Context(), "127.0.0.1", 0, "PLATFORM_PORT")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	addr, ok := taken.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("%T", taken.Addr())
	}
	for _, tc := range []struct {
		host string
		port int
		code string
	}{{"127.0.0.1", addr.Port, "address_in_use"}, {"192.0.2.1", 0, "address_unusable"}, {"no host", 0, "address_unusable"}} {
		if l, err := listenAt(t.Context(), tc.host, tc.port, "PLATFORM_PORT"); svc.CodeOf(err) != tc.code {
			t.Errorf("%s: %v, %v, want %s", tc.host, l, err, tc.code)
		}
	}
}
