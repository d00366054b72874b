package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/cli/tree"
	"github.com/svcctl/svcctl/internal/client/tui/pick"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// choosable is how many versions or projects, the newest ones, a list offers.
const choosable = 200

// choosing lets a person on a terminal choose the version or the project that a command needs
// and its command line does not name. Elsewhere the command line is refused as before.
func choosing(k *kit.Kit, cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		choosing(k, sub)
	}
	if cmd.RunE == nil || cmd.Args == nil {
		return
	}
	args, run, choose := cmd.Args, cmd.RunE, chooser(cmd)
	cmd.Args = func(cmd *cobra.Command, given []string) error {
		err := args(cmd, given)
		if err != nil && choose != nil && len(given) == 0 && args(cmd, []string{"x"}) == nil && canChoose(k) {
			return nil // RunE asks
		}
		return err
	}
	cmd.RunE = func(cmd *cobra.Command, given []string) error {
		k.ChooseProject = func() (string, error) { return chooseProject(cmd.Context(), k) }
		refused := args(cmd, given)
		if refused == nil {
			return run(cmd, given)
		}
		name, err := choose(cmd.Context(), k, flagOf(cmd, "project"))
		switch {
		case err != nil:
			return err
		case name == "":
			return tree.Refused(cmd, refused)
		}
		return run(cmd, []string{name})
	}
}

// chooser gives the function that asks for the first argument of a command; nil if it is
// neither a version nor a project.
func chooser(cmd *cobra.Command) func(ctx context.Context, k *kit.Kit, project string) (string, error) {
	_, arguments, _ := strings.Cut(cmd.Use, " ")
	switch {
	case strings.HasPrefix(strings.TrimLeft(arguments, "["), "PROJECT/]VERSION"):
		offered := offeredBy(cmd.Name())
		return func(ctx context.Context, k *kit.Kit, project string) (string, error) {
			return chooseVersion(ctx, k, project, offered)
		}
	case arguments == "PROJECT" && cmd.Name() != "create":
		return func(ctx context.Context, k *kit.Kit, _ string) (string, error) { return chooseProject(ctx, k) }
	}
	return nil
}

// offeredBy says which versions a verb can do something with.
func offeredBy(verb string) func(api.Version) bool {
	switch verb {
	case "wake":
		return func(v api.Version) bool { return v.Status == api.VersionStatusArchived }
	case "release":
		return promotable
	case "archive":
		return func(v api.Version) bool { return v.Status == api.VersionStatusReady }
	case "delete":
		return func(v api.Version) bool { return v.Status != api.VersionStatusDestroyed && !v.IsProduction }
	}
	return func(v api.Version) bool { return v.Status != api.VersionStatusDestroyed }
}

// promotable are the versions that could become production.
func promotable(v api.Version) bool { return v.Status == api.VersionStatusReady && !v.IsProduction }

// canChoose reports whether a person can be asked.
func canChoose(k *kit.Kit) bool { return k.InTTY && k.OutTTY && k.Fancy() && !k.JSON() }

// chooseVersion returns "project/version"; "" if the person chose none, or if there is
// nothing to choose from.
func chooseVersion(ctx context.Context, k *kit.Kit, project string, offered func(api.Version) bool) (string, error) {
	if !canChoose(k) {
		return "", nil
	}
	c, project, err := projectAt(k, project)
	if errors.Is(err, context.Canceled) {
		return "", err
	}
	if err != nil {
		return "", nil //nolint:nilerr // the command line is refused
	}
	var items []pick.Item
	for v, err := range c.AllVersions(ctx, project, "") {
		if err != nil || len(items) == choosable {
			break
		}
		if offered(v) {
			items = append(items, pick.Item{Name: kit.Clean(v.ID), Detail: kit.Clean(describe(v))})
		}
	}
	id, err := chosen(ctx, k, "choose a version of "+project, items)
	if id == "" {
		return "", err
	}
	return project + "/" + id, nil
}

func describe(v api.Version) string {
	text := fmt.Sprintf("%-9s %4s", v.Status, kit.Age(v.CreatedAt.Time))
	if v.IsProduction {
		text += "  production"
	}
	if name := cmp.Or(v.PreviewName, v.GitRef); name != "" {
		text += "  " + name
	}
	return text
}

// chooseProject returns the id of a project; "" as chooseVersion.
func chooseProject(ctx context.Context, k *kit.Kit) (string, error) {
	if !canChoose(k) {
		return "", nil
	}
	c, err := k.Client()
	if err != nil {
		return "", nil //nolint:nilerr // the command line is refused
	}
	page, _ := c.Projects(ctx, client.Page{Limit: choosable}) // nothing is offered after an error
	var items []pick.Item
	for _, p := range page.Items {
		items = append(items, pick.Item{Name: kit.Clean(p.ID), Detail: kit.Clean("production " + cmp.Or(p.ProdVersionID, "none"))})
	}
	return chosen(ctx, k, "choose a project", items)
}

// chosen shows the list, and notes the choice for the next command line.
func chosen(ctx context.Context, k *kit.Kit, title string, items []pick.Item) (string, error) {
	if len(items) == 0 {
		return "", nil
	}
	name, err := pick.Run(ctx, pick.New(title, items), k.In, k.Err)
	if name != "" {
		k.Notef("%s: %s", title, name)
	}
	return name, err
}
