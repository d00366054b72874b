package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/svcctl/svcctl/internal/svc"
)

// Client is what the CLI runs with [D50].
type Client struct {
	Server      string // URL of the API
	DeployToken svc.Secret
	AdminToken  svc.Secret
	Context     string            // name of the context in use; "" for none
	CAFile      string            // of the context; "" for none
	Sources     map[string]string // where server, deploy_token and admin_token come from; absent for defaults
	Gone        Note              // of this user's daemon, if it ended without removing the note; else zero
	Output      string            // "" for the default
	Actor       string            // for the audit record of the server; "" for none
	CI          bool
	NoColor     bool
	Terminal    string // TERM
	Environment Environment
	Environ     []string // for build commands
}

// DefaultServer is where a daemon with default settings answers.
const DefaultServer = "http://127.0.0.1:8790"

// ClientFlags are the flags that win over the environment; "" where one is not given.
type ClientFlags struct{ Server, Context string }

// LoadClient reads the CLI's environment. The server is that of the flag, of
// SVCCTL_SERVER, of the context that is named or current, or a daemon of this user.
// Tokens of a context and of a daemon go only to its server.
func LoadClient(list []string, flags ClientFlags) (*Client, error) {
	env := environ(list)
	c := &Client{
		Sources: map[string]string{}, DeployToken: svc.Secret(env["SVCCTL_DEPLOY_TOKEN"]), AdminToken: svc.Secret(env["SVCCTL_ADMIN_TOKEN"]),
		Actor:  actor(env),
		Output: env["SVCCTL_OUTPUT"], CI: env["CI"] != "" && env["CI"] != "false", Terminal: env["TERM"],
		NoColor: env["NO_COLOR"] != "" || env["CLICOLOR"] == "0", Environment: environment(env), Environ: list,
	}
	if err := c.chooseServer(env, flags); err != nil {
		return nil, err
	}
	c.note("deploy_token", "SVCCTL_DEPLOY_TOKEN", c.DeployToken)
	c.note("admin_token", "SVCCTL_ADMIN_TOKEN", c.AdminToken)
	if err := c.useContext(list, cmp.Or(flags.Context, env["SVCCTL_CONTEXT"])); err != nil {
		return nil, err
	}
	c.fallbackTokens(env)
	c.discover(env)
	c.Server = cmp.Or(c.Server, DefaultServer)
	return c, nil
}

// chooseServer takes the server of the flag or of SVCCTL_SERVER.
func (c *Client) chooseServer(env map[string]string, flags ClientFlags) error {
	given, source := flags.Server, "--server"
	if given != "" && flags.Context != "" {
		return errors.New("--server and --context exclude each other")
	}
	if given == "" && flags.Context == "" {
		given, source = env["SVCCTL_SERVER"], "SVCCTL_SERVER"
	}
	if given == "" {
		return nil
	}
	var err error
	if c.Server, err = httpURL(given); err != nil {
		return fmt.Errorf("server %q: %w", Setting{}.shown(given), err)
	}
	c.Sources["server"] = source
	return nil
}

// useContext takes server and tokens of the named context, else of the current one. A
// server that was given wins, and gets the tokens of a context for it.
func (c *Client) useContext(list []string, name string) error {
	all, err := ReadContexts(list)
	if err != nil {
		return err
	}
	own, known := all.Contexts[name]
	switch {
	case name != "" && !known:
		return fmt.Errorf("there is no context %q: log in with svcctl login URL --name %s, or see svcctl context list", name, name)
	case c.Server != "":
		name, own, known = all.forServer(c.Server)
	case name == "":
		name = all.Current
		own, known = all.Contexts[name]
	}
	if !known {
		return nil
	}
	c.Context, c.CAFile = name, own.CAFile
	c.fill("server", &c.Server, own.Server)
	c.fillToken("deploy_token", &c.DeployToken, own.DeployToken)
	c.fillToken("admin_token", &c.AdminToken, own.AdminToken)
	return nil
}

// forServer finds the context of a server, the current one first.
func (all Contexts) forServer(server string) (name string, c Context, ok bool) {
	if c, ok := all.Contexts[all.Current]; ok && c.Server == server {
		return all.Current, c, true
	}
	for _, name := range slices.Sorted(maps.Keys(all.Contexts)) {
		if c := all.Contexts[name]; c.Server == server {
			return name, c, true
		}
	}
	return "", Context{}, false
}

func (c *Client) fill(key string, to *string, value string) {
	if *to == "" && value != "" {
		*to, c.Sources[key] = value, "context "+c.Context
	}
}

func (c *Client) fillToken(key string, to *svc.Secret, value string) {
	if *to == "" && value != "" {
		*to, c.Sources[key] = svc.Secret(value), "context "+c.Context
	}
}

// note says where a token comes from, if there is one.
func (c *Client) note(key, source string, token svc.Secret) {
	if token != "" && c.Sources[key] == "" {
		c.Sources[key] = source
	}
}

// fallbackTokens takes the operator's names, which CI jobs often have already.
func (c *Client) fallbackTokens(env map[string]string) {
	c.DeployToken = cmp.Or(c.DeployToken, svc.Secret(env["SVC_DEPLOY_TOKEN"]))
	c.AdminToken = cmp.Or(c.AdminToken, svc.Secret(env["SVC_ADMIN_TOKEN"]))
	c.note("deploy_token", "SVC_DEPLOY_TOKEN", c.DeployToken)
	c.note("admin_token", "SVC_ADMIN_TOKEN", c.AdminToken)
}

// discover fills in server and tokens from the note of a local daemon. Tokens
// go only to the server the note names.
func (c *Client) discover(env map[string]string) {
	note, err := findNote(dataDirs(env, os.Geteuid()))
	if err != nil || c.Server != "" && c.Server != note.API {
		return
	}
	if !alive(note.PID) {
		c.Gone = note
		return
	}
	const source = "the daemon of this user"
	if c.Server == "" {
		c.Server, c.Sources["server"] = note.API, source
	}
	deploy, admin := svc.Secret(note.DeployToken), svc.Secret(note.AdminToken)
	if admin == "" && os.Geteuid() == 0 { // the operator has given them
		deploy, admin = Packaged().tokens(env)
	}
	c.DeployToken, c.AdminToken = cmp.Or(c.DeployToken, deploy), cmp.Or(c.AdminToken, admin)
	c.note("deploy_token", source, c.DeployToken)
	c.note("admin_token", source, c.AdminToken)
}

// dataDirs are the data directories where a daemon of this user may have its note: for
// root, also that of the daemon of the machine.
func dataDirs(env map[string]string, uid int) []string {
	if dir := env["SVC_DATA_DIR"]; dir != "" {
		return []string{dir}
	}
	dirs := []string{DefaultDataDir(env)}
	if uid == 0 {
		dirs = append(dirs, ServiceDataDir)
	}
	return dirs
}

// LocalDaemon returns the note of the running daemon on this machine that SVC_DATA_DIR
// names, or else this user's.
func LocalDaemon(list []string) (Note, error) {
	note, err := findNote(dataDirs(environ(list), os.Geteuid()))
	if err != nil || !alive(note.PID) {
		return Note{}, errors.New("no server of this user runs on this machine: run the command as the user of the server, or set SVC_DATA_DIR")
	}
	return note, nil
}

// findNote reads the note of the first directory whose daemon runs, else the first note
// that there is.
func findNote(dirs []string) (found Note, err error) {
	err = fs.ErrNotExist
	for _, dir := range dirs {
		note, problem := ReadNote(dir)
		switch {
		case problem != nil:
		case alive(note.PID):
			return note, nil
		case err != nil:
			found, err = note, nil
		}
	}
	return found, err
}

// Note is what a running daemon leaves in its data directory for the CLI of the
// same user: a 0600 file. It holds tokens only when the daemon made them.
type Note struct {
	PID         int    `json:"pid"`
	API         string `json:"api"`
	Gateway     string `json:"gateway"`
	S3          string `json:"s3,omitempty"`
	HTTPS       string `json:"https,omitempty"` // host:port
	HTTP        string `json:"http,omitempty"`  // host:port of redirects to https
	DeployToken string `json:"deploy_token,omitempty"`
	AdminToken  string `json:"admin_token,omitempty"`
}

// NotePath is where the note of the daemon with this data directory is.
func NotePath(dataDir string) string { return filepath.Join(dataDir, "daemon.json") }

// ReadNote reads the note of the daemon with this data directory.
func ReadNote(dataDir string) (Note, error) {
	var n Note
	data, err := os.ReadFile(NotePath(dataDir))
	if err == nil {
		err = json.Unmarshal(data, &n)
	}
	return n, err
}

// alive reports whether the process that left a note still runs. A killed daemon
// leaves its note behind, and another program may listen on its port: the tokens
// must not be sent there.
func alive(pid int) bool {
	if pid <= 0 {
		return false
	}
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
