package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/browser"
	"github.com/svcctl/svcctl/internal/client/cli/kit"
)

func newOpen(k *kit.Kit) *cobra.Command {
	var project string
	cmd := &cobra.Command{
		Use: "open [[PROJECT/]VERSION]", Short: "Open a version in the browser", Args: cobra.MaximumNArgs(1),
		Long: "Opens the address of a version, or that of the project's production, in the browser: the program in BROWSER, or that of\n" +
			"the desktop. Prints the address, too.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return openVersion(cmd.Context(), k, strings.Join(args, ""), project)
		},
	}
	projectFlag(cmd, &project)
	return cmd
}

func openVersion(ctx context.Context, k *kit.Kit, arg, named string) error {
	url, err := addressOf(ctx, k, arg, named)
	if err != nil {
		return err
	}
	if err := k.Print(map[string]string{"url": url}, func() { k.Printf("%s", kit.Clean(url)) }); err != nil {
		return err
	}
	return browser.Open(ctx, k.Environ, url)
}

// addressOf returns the address of a version, or of the project's production for "".
func addressOf(ctx context.Context, k *kit.Kit, arg, named string) (string, error) {
	c, err := k.Client()
	if err != nil {
		return "", err
	}
	if arg == "" {
		project, err := projectOr(k, named)
		if err != nil {
			return "", err
		}
		p, err := c.Project(ctx, project)
		return p.ProdURL, err
	}
	project, id, err := versionOf(k, arg, named)
	if err != nil {
		return "", err
	}
	v, err := c.Version(ctx, project, id)
	return v.PreviewURL, err
}
