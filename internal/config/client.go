package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/svcctl/svcctl/internal/svc"
)

// Client is what the CLI runs with [D50].
type Client struct {
	Server      string // URL of the API
	DeployToken svc.Secret
	AdminToken  svc.Secret
	Gone        Note   // of this user's daemon, if it ended without removing the note; else zero
	Output      string // "" for the default
	CI          bool
	NoColor     bool
	Terminal    string // TERM
	Environment Environment
	Environ     []string // for build commands
}

// DefaultServer is where a daemon with default settings answers.
const DefaultServer = "http://127.0.0.1:8790"

// LoadClient reads the CLI's environment; server overrides it when not "".
// With no server and no tokens it takes those of this user's daemon.
func LoadClient(list []string, server string) (*Client, error) {
	env := environ(list)
	c := &Client{
		Server: server, DeployToken: svc.Secret(env["SVCCTL_DEPLOY_TOKEN"]), AdminToken: svc.Secret(env["SVCCTL_ADMIN_TOKEN"]),
		Output: env["SVCCTL_OUTPUT"], CI: env["CI"] != "" && env["CI"] != "false", Terminal: env["TERM"],
		NoColor: env["NO_COLOR"] != "" || env["CLICOLOR"] == "0", Environment: environment(env), Environ: list,
	}
	if env["SVCCTL_CONTEXT"] != "" {
		return nil, fmt.Errorf("SVCCTL_CONTEXT has no effect yet: set SVCCTL_SERVER, SVCCTL_DEPLOY_TOKEN and SVCCTL_ADMIN_TOKEN")
	}
	if c.Server == "" {
		c.Server = env["SVCCTL_SERVER"]
	}
	if c.Server != "" {
		given := c.Server
		var err error
		if c.Server, err = httpURL(given); err != nil {
			return nil, fmt.Errorf("server %q: %w", Setting{}.shown(given), err)
		}
	}
	c.fallbackTokens(env)
	c.discover(env)
	c.Server = cmp.Or(c.Server, DefaultServer)
	return c, nil
}

// fallbackTokens takes the operator's names, which CI jobs often have already.
func (c *Client) fallbackTokens(env map[string]string) {
	if c.DeployToken == "" {
		c.DeployToken = svc.Secret(env["SVC_DEPLOY_TOKEN"])
	}
	if c.AdminToken == "" {
		c.AdminToken = svc.Secret(env["SVC_ADMIN_TOKEN"])
	}
}

// discover fills in server and tokens from the note of a local daemon. Tokens
// go only to the server the note names.
func (c *Client) discover(env map[string]string) {
	dir := env["SVC_DATA_DIR"]
	if dir == "" {
		dir = DefaultDataDir(env)
	}
	note, err := ReadNote(dir)
	if err != nil || c.Server != "" && c.Server != note.API {
		return
	}
	if !alive(note.PID) {
		c.Gone = note
		return
	}
	c.Server = note.API
	if c.DeployToken == "" {
		c.DeployToken = svc.Secret(note.DeployToken)
	}
	if c.AdminToken == "" {
		c.AdminToken = svc.Secret(note.AdminToken)
	}
}

// Note is what a running daemon leaves in its data directory for the CLI of the
// same user: a 0600 file. It holds tokens only when the daemon made them.
type Note struct {
	PID         int    `json:"pid"`
	API         string `json:"api"`
	Gateway     string `json:"gateway"`
	S3          string `json:"s3,omitempty"`
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
