package kit_test

import (
	"context"
	"net"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/client"
)

// free is an address of this machine where nothing listens.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}

// After a clean stop there is no token, because there is no server: that is what to say. A server
// that runs, and one elsewhere, need a login.
func TestServerNotRunning(t *testing.T) {
	t.Parallel()
	runs, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer runs.Close()
	for server, want := range map[string]struct {
		text string
		code int
	}{
		free(t):                          {"your server is not running: start it with: svcctl serve", kit.ExitBusy},
		"http://" + runs.Addr().String(): {"no token for http://127", kit.ExitAuth},
		"https://deploy.example.com":     {"no token for https://deploy", kit.ExitAuth},
	} {
		k, _, _ := newKit(t, "SVCCTL_SERVER="+server)
		_, err := k.Client()
		if err == nil || !strings.HasPrefix(err.Error(), want.text) || kit.ExitCode(err) != want.code {
			t.Errorf("%s: %v, exit code %d", server, err, kit.ExitCode(err))
		}
	}
	k, _, _ := newKit(t, "SVCCTL_SERVER="+free(t))
	if err := k.NeedAdmin("--promote"); kit.ExitCode(err) != kit.ExitBusy {
		t.Errorf("for the admin token: %v", err)
	}
}

// A server that accepts connections and says nothing is named after two seconds.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	server := "http://" + l.Addr().String()
	k, _, _ := newKit(t, "SVCCTL_ADMIN_TOKEN=x", "SVCCTL_SERVER="+server)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	notice := &firstWrite{then: cancel} // the limit of ten seconds is tested with the client
	k.Err = notice
	c, err := k.Client()
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Projects(ctx, client.Page{})
	if want := server + " has not answered for 2s; still waiting\n"; notice.text != want {
		t.Errorf("printed %q, want %q (%v)", notice.text, want, err)
	}
}

// firstWrite does something when it is written to.
type firstWrite struct {
	text string
	then func()
}

func (w *firstWrite) Write(p []byte) (int, error) {
	w.text += string(p)
	w.then()
	return len(p), nil
}
