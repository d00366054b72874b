// Package kit is what every command needs: the streams and whether they are
// terminals, the client, output in the chosen format, progress, and the exit
// code of an error. It knows nothing of any command.
package kit

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/server/obs"
	"github.com/svcctl/svcctl/pkg/client"
)

// Streams are where a command reads and writes. Data goes to Out, everything
// for people to Err.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	InTTY    bool
	OutTTY   bool
	ErrTTY   bool
}

// Kit is one run of the program.
type Kit struct {
	Streams
	Environ []string
	Dir     string // working directory, for relative paths

	Server string // flag --server
	Output string // flag --output
	CWD    string // flag --cwd
}

// System is the Kit of the real process.
func System() *Kit {
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	return &Kit{
		Streams: Streams{
			In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
			InTTY:  term.IsTerminal(int(os.Stdin.Fd())),
			OutTTY: term.IsTerminal(int(os.Stdout.Fd())), ErrTTY: term.IsTerminal(int(os.Stderr.Fd())),
		},
		Environ: os.Environ(), Dir: dir,
	}
}

// Config is the client's configuration.
func (k *Kit) Config() (*config.Client, error) {
	c, err := config.LoadClient(k.Environ, k.Server)
	if err != nil {
		return nil, Usagef("%v", err)
	}
	return c, nil
}

// Client connects to the configured server. It makes no request.
func (k *Kit) Client() (*client.Client, error) {
	c, err := k.Config()
	if err != nil {
		return nil, err
	}
	tokens := client.Tokens{Deploy: c.DeployToken.Reveal(), Admin: c.AdminToken.Reveal()}
	if tokens.Deploy == "" && tokens.Admin == "" {
		return nil, &noToken{server: c.Server}
	}
	return client.New(c.Server, tokens, client.Options{UserAgent: "svcctl/" + obs.BuildInfo().Version})
}

type noToken struct{ server string }

func (e *noToken) Error() string {
	return fmt.Sprintf("no token for %s: set SVCCTL_DEPLOY_TOKEN and SVCCTL_ADMIN_TOKEN, or start a daemon of your own with: svcctl serve", e.server)
}

// Notef tells a person something on stderr.
func (k *Kit) Notef(format string, args ...any) {
	_, _ = fmt.Fprintf(k.Err, format+"\n", args...) // ignore write errors on stderr
}

// Fancy reports whether stderr may be redrawn: a terminal, and not in CI.
func (k *Kit) Fancy() bool {
	c, err := k.Config()
	return err == nil && k.ErrTTY && !c.CI && c.Terminal != "dumb"
}

// Clean removes control characters from what a server said, so that it cannot
// steer a terminal.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return -1
		}
		return r
	}, s)
}
