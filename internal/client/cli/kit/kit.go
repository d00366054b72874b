package kit

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/lib/buildinfo"
	"github.com/svcctl/svcctl/internal/lib/text"
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
	Columns  int // width of the terminal that Out is; 0 for no limit
}

// Kit is one run of the program.
type Kit struct {
	Streams
	Environ []string
	Dir     string // working directory, for relative paths

	Server  string // flag --server
	Context string // flag --context
	Output  string // flag --output
	CWD     string // flag --cwd
	CAFile  string // flag --ca-file

	JSONEvents bool // flag --json-events of deploy
	Force      bool // flag --force of commands that change data
	Yes        bool // flag --yes of commands that change production
	Screen     bool // the command draws the whole terminal: nothing is written beside it

	// Engine returns the path of workerd, which evaluates a project file that is a program. It may be nil.
	Engine func(context.Context) (string, error)

	// ChooseProject asks the person for a project; "" if there is no answer. It may be nil.
	ChooseProject func() (string, error)

	drawn string // the line of a Progress; "" for none
}

// System is the Kit of the real process.
func System() *Kit {
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	columns := 0
	if width, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
		columns = width
	}
	return &Kit{
		Streams: Streams{
			Columns: columns,
			In:      os.Stdin, Out: os.Stdout, Err: os.Stderr,
			InTTY:  term.IsTerminal(int(os.Stdin.Fd())),
			OutTTY: term.IsTerminal(int(os.Stdout.Fd())), ErrTTY: term.IsTerminal(int(os.Stderr.Fd())),
		},
		Environ: os.Environ(), Dir: dir,
	}
}

// Config is the client's configuration.
func (k *Kit) Config() (*config.Client, error) {
	c, err := config.LoadClient(k.Environ, config.ClientFlags{Server: k.Server, Context: k.Context})
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
		return nil, tokenless(c, "")
	}
	return k.Connect(c.Server, tokens, cmp.Or(k.CAFile, c.CAFile))
}

// Connect makes a client of a server. caFile may be "". It makes no request.
func (k *Kit) Connect(server string, tokens client.Tokens, caFile string) (*client.Client, error) {
	roots, err := k.Roots(caFile)
	if err != nil {
		return nil, err
	}
	actor := ""
	if c, err := k.Config(); err == nil {
		actor = c.Actor
	}
	return client.New(server, tokens, client.Options{Actor: actor, UserAgent: "svcctl/" + buildinfo.Read().Version, RootCAs: roots, Force: k.Force, Silent: k.silent(server)})
}

// Roots are the certificates of the system and those in file; nil without one.
func (k *Kit) Roots(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil // nil leaves the system's certificates alone
	}
	pem, err := os.ReadFile(k.Path(file))
	if err != nil {
		return nil, Usagef("--ca-file: %v", err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, Usagef("--ca-file: %s has no certificate in PEM form", file)
	}
	return roots, nil
}

// ReadFile reads a file that the command line names, standard input for "-".
func (k *Kit) ReadFile(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(k.In)
	}
	data, err := os.ReadFile(k.Path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Usagef("file not found: %s", name)
	}
	return data, err
}

// Path is a path of the command line, seen from --cwd and the working directory.
func (k *Kit) Path(p string) string {
	for _, base := range []string{k.CWD, k.Dir} {
		if !filepath.IsAbs(p) {
			p = filepath.Join(base, p)
		}
	}
	return p
}

// Again is the command line that repeats a command for the same server.
func (k *Kit) Again(args ...string) string {
	line := append([]string{"svcctl"}, args...)
	for _, flag := range [][2]string{{"--server", k.Server}, {"--context", k.Context}, {"--ca-file", k.CAFile}} {
		if flag[1] != "" {
			line = append(line, flag[0], flag[1])
		}
	}
	return strings.Join(line, " ")
}

// Notef tells a person something on stderr, above the line of a Progress.
func (k *Kit) Notef(format string, args ...any) {
	terminal.Lock()
	defer terminal.Unlock()
	line := k.drawn
	k.redraw("")
	_, _ = fmt.Fprintf(k.Err, format+"\n", args...) // ignore write errors on stderr
	k.redraw(line)
}

// terminal orders what goroutines write: the terminal belongs to the process.
//
//nolint:gochecknoglobals // a Kit is copied, and its copies write to the same terminal
var terminal sync.Mutex

// draw replaces the line of a Progress.
func (k *Kit) draw(line string) {
	terminal.Lock()
	defer terminal.Unlock()
	k.redraw(line)
}

// redraw is draw for a caller that has locked the terminal.
func (k *Kit) redraw(line string) {
	if line != k.drawn {
		_, _ = fmt.Fprint(k.Err, "\r\x1b[K"+line) // as Notef
		k.drawn = line
	}
}

// Fancy reports whether stderr may be redrawn: a terminal, and not in CI.
func (k *Kit) Fancy() bool {
	c, err := k.Config()
	return err == nil && k.ErrTTY && !c.CI && c.Terminal != "dumb"
}

// Clean is text.Clean.
func Clean(s string) string { return text.Clean(s) }
