package cli

import (
	"context"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/browser"
	"github.com/svcctl/svcctl/internal/client/cli/kit"
)

func newDashboard(k *kit.Kit) *cobra.Command {
	var show bool
	cmd := &cobra.Command{
		Use: "dashboard [PROJECT[/VERSION]]", Short: "Open the dashboard of the server in the browser, signed in", Args: cobra.MaximumNArgs(1),
		Long: "Opens the dashboard in the browser: the program in BROWSER, or that of the desktop. The address has a ticket that signs in once,\n" +
			"within a minute, with the role of the admin token; it does not have the token. An argument opens a project or a version.",
		Example: "  svcctl dashboard\n  svcctl dashboard shop/pr-7\n  svcctl dashboard --print",
		RunE: func(cmd *cobra.Command, args []string) error {
			return openDashboard(cmd.Context(), k, strings.Join(args, ""), show)
		},
	}
	cmd.Flags().BoolVar(&show, "print", false, "print the address instead of opening it")
	return cmd
}

func openDashboard(ctx context.Context, k *kit.Kit, arg string, show bool) error {
	if err := k.NeedAdmin("svcctl dashboard"); err != nil {
		return err
	}
	c, err := k.Client()
	if err != nil {
		return err
	}
	ticket, err := c.DashboardTicket(ctx)
	if err != nil {
		return err
	}
	address := ticket.URL
	if place := placeOf(arg); place.Project != "" {
		next := "/p/" + url.PathEscape(place.Project)
		if place.Version != "" {
			next += "/v/" + url.PathEscape(place.Version)
		}
		address += "&next=" + url.QueryEscape(next)
	}
	if show {
		return k.Print(map[string]string{"url": address}, func() { k.Printf("%s", kit.Clean(address)) })
	}
	return browser.Open(ctx, k.Environ, address)
}
