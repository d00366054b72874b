package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/client"
)

type loginOptions struct {
	name  string
	stdin bool
}

func newLogin(k *kit.Kit) *cobra.Command {
	var o loginOptions
	cmd := &cobra.Command{
		Use: "login URL", Short: "Store the address and the tokens of a server as a context", Args: cobra.ExactArgs(1),
		Long: "Asks the server whether it knows the tokens, stores them in a file that only you can read, and makes the context the current one. " +
			"With --token-stdin the tokens are the lines of standard input: the admin token, the deploy token, or both.",
		Example: "  svcctl login https://deploy.example.com\n  svcctl login https://deploy.example.com --name prod --token-stdin < tokens",
		RunE:    func(cmd *cobra.Command, args []string) error { return login(cmd.Context(), k, o, args[0]) },
	}
	cmd.Flags().StringVar(&o.name, "name", "", "name of the context (default: the host of the URL)")
	cmd.Flags().BoolVar(&o.stdin, "token-stdin", false, "read the tokens from standard input, one a line")
	return cmd
}

// loggedIn is what login prints with -o json.
type loggedIn struct {
	Context string   `json:"context"`
	Server  string   `json:"server"`
	Tokens  []string `json:"tokens"` // "admin", "deploy"
}

func login(ctx context.Context, k *kit.Kit, o loginOptions, address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return kit.Usagef("want an http or https URL without a password, such as https://deploy.example.com")
	}
	o.name = cmp.Or(o.name, u.Host)
	if err := checkContextName(o.name); err != nil {
		return err
	}
	own := config.Context{Server: strings.TrimRight(address, "/")}
	if k.CAFile != "" {
		if own.CAFile, err = filepath.Abs(k.Path(k.CAFile)); err != nil {
			return err
		}
	}
	tokens, err := o.tokens(ctx, k)
	if err != nil {
		return err
	}
	shown := loggedIn{Context: o.name, Server: own.Server}
	for _, token := range tokens {
		role, err := roleOf(ctx, k, own, token)
		if err != nil {
			return err
		}
		if shown.Tokens = append(shown.Tokens, role); role == "admin" {
			own.AdminToken = token
		} else {
			own.DeployToken = token
		}
	}
	if err := storeContext(k, o.name, own); err != nil {
		return err
	}
	return k.Print(shown, func() {
		k.Printf("logged in to %s as context %s (%s token)", own.Server, o.name, strings.Join(shown.Tokens, " and "))
	})
}

func storeContext(k *kit.Kit, name string, own config.Context) error {
	all, err := config.ReadContexts(k.Environ)
	if err != nil {
		return err
	}
	all.Contexts[name], all.Current = own, name
	return config.WriteContexts(k.Environ, all)
}

// tokens reads the tokens: lines of standard input, or what is typed at a prompt that
// does not show it.
func (o loginOptions) tokens(ctx context.Context, k *kit.Kit) ([]string, error) {
	var tokens []string
	if o.stdin {
		lines := bufio.NewScanner(k.In)
		for lines.Scan() {
			tokens = append(tokens, strings.Fields(lines.Text())...)
		}
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("reading the tokens: %w", err)
		}
	} else {
		for _, what := range []string{"admin token (empty for none): ", "deploy token (empty for none): "} {
			token, err := k.Hidden(ctx, what)
			if err != nil {
				return nil, err
			}
			tokens = append(tokens, strings.Fields(token)...)
		}
	}
	if len(tokens) == 0 || len(tokens) > 2 {
		return nil, kit.Usagef("want one token or two: the admin token, the deploy token, or both")
	}
	return tokens, nil
}

// roleOf asks the server what a token may do: "admin" or "deploy".
func roleOf(ctx context.Context, k *kit.Kit, own config.Context, token string) (string, error) {
	c, err := k.Connect(own.Server, client.Tokens{Admin: token, Deploy: token}, own.CAFile)
	if err != nil {
		return "", err
	}
	_, err = c.Projects(ctx, client.Page{Limit: 1})
	refused, _ := errors.AsType[*client.Error](err)
	switch {
	case err == nil:
		return "admin", nil
	case refused != nil && refused.Status == http.StatusForbidden && refused.Problem.Code == svc.CodeForbidden:
		return "deploy", nil
	case refused != nil && refused.Status == http.StatusUnauthorized:
		return "", fmt.Errorf("%s does not know the token: %w", own.Server, err)
	}
	return "", err
}

func newWhoami(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "whoami", Short: "Show the server in use and what the tokens may do", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return whoami(cmd.Context(), k) },
	}
}

// identity is what whoami prints with -o json.
type identity struct {
	Server   string   `json:"server"`
	Context  string   `json:"context"`
	Version  string   `json:"version"` // of the server
	Tokens   []string `json:"tokens"`
	Name     string   `json:"name"`     // of the token that is used for all but deploys
	Roles    []string `json:"roles"`    // of that token
	Projects *int     `json:"projects"` // null without the admin token
}

func whoami(ctx context.Context, k *kit.Kit) error {
	cfg, err := k.Config()
	if err != nil {
		return err
	}
	c, err := k.Client()
	if err != nil {
		return err
	}
	health, err := c.Health(ctx)
	if err != nil {
		return err
	}
	me := identity{Server: cfg.Server, Context: cfg.Context, Version: health.Version}
	who, err := c.Whoami(ctx)
	if err != nil {
		return err
	}
	me.Name = who.Token
	for _, r := range who.Roles {
		me.Roles = append(me.Roles, string(r))
	}
	if cfg.AdminToken != "" {
		n := 0
		for _, err := range c.AllProjects(ctx) {
			if err != nil {
				return err
			}
			n++
		}
		me.Tokens, me.Projects = append(me.Tokens, "admin"), &n
	}
	if cfg.DeployToken != "" {
		me.Tokens = append(me.Tokens, "deploy")
	}
	return k.Print(me, func() {
		where := me.Server
		if me.Context != "" {
			where += " (context " + me.Context + ")"
		}
		line := fmt.Sprintf("%s, svcd %s, %s token", where, kit.Clean(me.Version), strings.Join(me.Tokens, " and "))
		if me.Name != "admin" && me.Name != "deploy" {
			line += fmt.Sprintf(" %s (%s)", kit.Clean(me.Name), strings.Join(me.Roles, " and "))
		}
		if me.Projects != nil {
			line += fmt.Sprintf(", %d projects", *me.Projects)
		}
		k.Printf("%s", line)
	})
}
