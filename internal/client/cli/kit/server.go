package kit

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"syscall"
	"time"

	"github.com/svcctl/svcctl/internal/config"
)

// localDial bounds a connection to this machine.
const localDial = 200 * time.Millisecond

type noToken struct {
	server string
	what   string // needs the admin token; "" for a command without any token
}

func (e *noToken) Error() string {
	if e.what != "" {
		return e.what + " needs the admin token, and SVCCTL_ADMIN_TOKEN is not set"
	}
	return fmt.Sprintf("no token for %s: log in with svcctl login %[1]s, set SVCCTL_DEPLOY_TOKEN and SVCCTL_ADMIN_TOKEN, or start a daemon of your own with: svcctl serve", e.server)
}

// goneDaemon is the daemon of this user, which ended without removing its note.
type goneDaemon struct{ note config.Note }

func (e *goneDaemon) Error() string {
	return fmt.Sprintf("the daemon at %s (process %d) is no longer running: start it with: svcctl serve, or set SVCCTL_SERVER", e.note.API, e.note.PID)
}

// NeedAdmin returns an error if there is no admin token for what, which needs it.
func (k *Kit) NeedAdmin(what string) error {
	c, err := k.Config()
	switch {
	case err != nil || c.AdminToken != "":
		return err
	case c.DeployToken == "":
		return tokenless(c, what)
	}
	return &noToken{server: c.Server, what: what}
}

// tokenless says why there is no token: often because no server runs that would have told
// its own. what is the part of the command that needs the admin token; "" for all of it.
func tokenless(c *config.Client, what string) error {
	switch {
	case c.Gone.PID != 0:
		return &goneDaemon{c.Gone}
	case refusesHere(c.Server):
		return &notRunning{c.Server}
	}
	return &noToken{server: c.Server, what: what}
}

// refusesHere reports whether the address is one of this machine where nothing listens.
func refusesHere(server string) bool {
	u, err := url.Parse(server)
	if err != nil {
		return false
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && !ip.IsLoopback() {
		return false
	}
	conn, err := net.DialTimeout("tcp", net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "80")), localDial) //nolint:noctx // ends immediately on this machine
	if err == nil {
		_ = conn.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// notRunning is a server of this machine that was stopped, or never started.
type notRunning struct{ server string }

func (e *notRunning) Error() string {
	return "your server is not running: start it with: svcctl serve (nothing listens at " + e.server + "), or log in to another one with: svcctl login URL"
}

// silent is client.Options.Silent.
func (k *Kit) silent(server string) func(time.Duration) {
	if k.Screen {
		return nil
	}
	return func(d time.Duration) {
		k.Notef("%s has not answered for %s; still waiting", server, d.Round(time.Second))
	}
}
