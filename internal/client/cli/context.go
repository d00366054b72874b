package cli

import (
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/svc"
)

func newContext(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "context", Short: "List and choose the servers that you are logged in to", RunE: serveHelp}
	cmd.AddCommand(
		&cobra.Command{
			Use: "list", Aliases: []string{"ls"}, Short: "List the contexts", Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error { return listContexts(k) },
		},
		&cobra.Command{
			Use: "use NAME", Short: "Make a context the current one", Args: cobra.ExactArgs(1), ValidArgsFunction: contextNames(k),
			RunE: func(_ *cobra.Command, args []string) error { return useContext(k, args[0]) },
		},
		&cobra.Command{
			Use: "show [NAME]", Short: "Show a context without its tokens (default: the current one)", Args: cobra.MaximumNArgs(1), ValidArgsFunction: contextNames(k),
			RunE: func(_ *cobra.Command, args []string) error { return showContext(k, args) },
		},
		&cobra.Command{
			Use: "rename NAME NEW-NAME", Aliases: []string{"mv"}, Short: "Give a context another name", Args: cobra.ExactArgs(2), ValidArgsFunction: contextNames(k),
			RunE: func(_ *cobra.Command, args []string) error { return renameContext(k, args[0], args[1]) },
		},
		&cobra.Command{
			Use: "delete NAME", Aliases: []string{"rm"}, Short: "Delete a context and its tokens from this machine", Args: cobra.ExactArgs(1), ValidArgsFunction: contextNames(k),
			RunE: func(_ *cobra.Command, args []string) error { return deleteContext(k, args[0]) },
		},
	)
	return cmd
}

// shownContext is a context without its tokens.
type shownContext struct {
	Name    string   `json:"name"`
	Server  string   `json:"server"`
	Current bool     `json:"current"`
	Tokens  []string `json:"tokens"`
	CAFile  string   `json:"ca_file,omitempty"`
}

func shown(all config.Contexts, name string) shownContext {
	c := all.Contexts[name]
	s := shownContext{Name: name, Server: c.Server, Current: name == all.Current, Tokens: []string{}, CAFile: c.CAFile}
	if c.AdminToken != "" {
		s.Tokens = append(s.Tokens, "admin")
	}
	if c.DeployToken != "" {
		s.Tokens = append(s.Tokens, "deploy")
	}
	return s
}

func listContexts(k *kit.Kit) error {
	all, err := config.ReadContexts(k.Environ)
	if err != nil {
		return err
	}
	list := []shownContext{}
	for _, name := range slices.Sorted(maps.Keys(all.Contexts)) {
		list = append(list, shown(all, name))
	}
	return kit.PrintList(k, list, []string{"CONTEXT", "CURRENT", "SERVER", "TOKENS"}, func(c shownContext) []string {
		return []string{c.Name, mark(c.Current), c.Server, joined(c.Tokens)}
	})
}

// named reads the contexts and checks that one of them has the name.
func named(k *kit.Kit, name string) (config.Contexts, error) {
	all, err := config.ReadContexts(k.Environ)
	if err != nil {
		return all, err
	}
	if _, ok := all.Contexts[name]; !ok {
		return all, svc.Errorf(svc.NotFound, svc.CodeContextNotFound, "there is no context %q", name).WithHint("see svcctl context list, or log in with svcctl login URL")
	}
	return all, nil
}

func useContext(k *kit.Kit, name string) error {
	all, err := named(k, name)
	if err != nil {
		return err
	}
	all.Current = name
	if err := config.WriteContexts(k.Environ, all); err != nil {
		return err
	}
	return k.Print(shown(all, name), func() { k.Printf("context %s: %s", name, all.Contexts[name].Server) })
}

func showContext(k *kit.Kit, args []string) error {
	all, err := config.ReadContexts(k.Environ)
	if err != nil {
		return err
	}
	name := all.Current
	if len(args) > 0 {
		name = args[0]
	}
	if name == "" {
		return kit.Usagef("no context is in use: name one, or log in with svcctl login URL")
	}
	if _, err := named(k, name); err != nil {
		return err
	}
	c := shown(all, name)
	return k.Print(c, func() { k.Printf("%s: %s (%s token)", c.Name, c.Server, joined(c.Tokens)) })
}

func renameContext(k *kit.Kit, name, to string) error {
	all, err := named(k, name)
	if err != nil {
		return err
	}
	if err := checkContextName(to); err != nil {
		return err
	}
	if _, taken := all.Contexts[to]; taken && to != name {
		return kit.Usagef("a context is called %q already: choose another name, or delete it with svcctl context delete %s", to, to)
	}
	own := all.Contexts[name]
	delete(all.Contexts, name)
	all.Contexts[to] = own
	if all.Current == name {
		all.Current = to
	}
	if err := config.WriteContexts(k.Environ, all); err != nil {
		return err
	}
	return k.Print(shown(all, to), func() { k.Printf("renamed context %s to %s", name, to) })
}

func checkContextName(name string) error {
	if !config.ValidContextName(name) {
		return kit.Usagef("invalid context name %q: use letters, digits, '.', '_', ':' and '-'", name)
	}
	return nil
}

func deleteContext(k *kit.Kit, name string) error {
	all, err := named(k, name)
	if err != nil {
		return err
	}
	c := shown(all, name)
	delete(all.Contexts, name)
	if all.Current == name {
		all.Current = ""
	}
	if err := config.WriteContexts(k.Environ, all); err != nil {
		return err
	}
	return k.Print(c, func() { k.Printf("deleted context %s", name) })
}
