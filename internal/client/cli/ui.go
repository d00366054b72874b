package cli

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/browser"
	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/tui"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/pkg/client"
)

type uiOptions struct {
	readOnly bool
	noMouse  bool
	plain    bool
	theme    string
}

func newUI(k *kit.Kit) *cobra.Command {
	var o uiOptions
	cmd := &cobra.Command{
		Use: "ui [PROJECT[/VERSION]]", Short: "Browse and change what the server has, live in the terminal", Args: cobra.MaximumNArgs(1),
		Long: "Shows projects, versions, logs and more, kept up to date by the events of the server. ? lists the keys of a screen, : runs a\n" +
			"command, / filters. An argument opens a project or a version. --plain reads commands as lines and answers in lines.",
		Example: "  svcctl ui\n  svcctl ui shop/pr-7 --read-only\n  svcctl ui -C production",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runUI(cmd.Context(), k, o, strings.Join(args, ""))
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.readOnly, "read-only", false, "refuse every change")
	f.BoolVar(&o.noMouse, "no-mouse", false, "leave the mouse to the terminal, for selecting text")
	f.BoolVar(&o.plain, "plain", false, "plain lines in place of a screen, for a screen reader")
	f.StringVar(&o.theme, "theme", "", "background of the terminal: light or dark (default: what the terminal says)")
	_ = cmd.RegisterFlagCompletionFunc("theme", cobra.FixedCompletions([]string{"light", "dark"}, cobra.ShellCompDirectiveNoFileComp)) // it exists
	return cmd
}

func runUI(ctx context.Context, k *kit.Kit, o uiOptions, arg string) error {
	if !o.plain && (!k.InTTY || !k.OutTTY) {
		return kit.Usagef("svcctl ui needs a terminal: use svcctl ui --plain, svcctl projects, svcctl versions or svcctl logs")
	}
	if o.theme != "" && o.theme != "light" && o.theme != "dark" {
		return kit.Usagef("--theme %q: use light or dark", o.theme)
	}
	if err := k.NeedAdmin("svcctl ui"); err != nil {
		return err
	}
	k.Screen = !o.plain
	c, err := k.Client()
	if err != nil {
		return err
	}
	all, err := config.ReadContexts(k.Environ)
	if err != nil {
		return err
	}
	return tui.Run(ctx, tui.Config{
		Client: c, Context: k.Context, Contexts: slices.Sorted(maps.Keys(all.Contexts)),
		Connect: func(name string) (*client.Client, error) {
			other := *k
			other.Server, other.Context = "", name
			return other.Client()
		},
		Browse:   func(ctx context.Context, url string) error { return browser.Open(ctx, k.Environ, url) },
		ReadOnly: o.readOnly, Color: colored(k) && !o.plain, Plain: o.plain, Theme: o.theme, Mouse: !o.noMouse, At: placeOf(arg), In: k.In, Out: k.Out,
	})
}

// placeOf returns the screen of an argument.
func placeOf(arg string) ui.Place {
	project, version, _ := strings.Cut(arg, "/")
	switch {
	case version != "":
		return ui.Place{Screen: "version", Project: project, Version: version}
	case project != "":
		return ui.Place{Screen: "versions", Project: project}
	}
	return ui.Place{}
}
