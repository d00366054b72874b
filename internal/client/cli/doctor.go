package cli

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/doctor"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

func newDoctor(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Check the installation of a server from outside and inside", Args: cobra.NoArgs,
		Long: "Checks from this machine, as visitors and pipelines meet the server: API, clock, DNS of a random host, TLS, the scheme that workers see, " +
			"websockets and large bodies through the proxy. Then the server checks itself: addresses, disk, file descriptors, confinement, clock, object store and workerd. " +
			"Each problem comes with what to change. Exits with 1 if a check failed; warnings do not change the exit code. Run it from outside, where visitors are.",
		RunE: func(cmd *cobra.Command, _ []string) error { return examine(cmd.Context(), k) },
	}
}

// examination is what doctor prints with -o json.
type examination struct {
	Outside []svc.Finding `json:"outside"`
	Inside  []svc.Finding `json:"inside"`
}

func examine(ctx context.Context, k *kit.Kit) error {
	cfg, err := k.Config()
	if err != nil {
		return err
	}
	roots, err := k.Roots(cmp.Or(k.CAFile, cfg.CAFile))
	if err != nil {
		return err
	}
	target := doctor.Target{Server: cfg.Server, Roots: roots, Resolver: net.DefaultResolver, Now: time.Now}
	var e examination
	e.Inside = inside(ctx, k, &target)
	e.Outside = doctor.Run(ctx, target)
	if err := k.Print(e, func() { e.print(k) }); err != nil {
		return err
	}
	if n := e.count(svc.FindingFailed); n > 0 {
		return fmt.Errorf("doctor found %s", problems(n))
	}
	return nil
}

// inside lets the server check itself, and completes what is known of it.
func inside(ctx context.Context, k *kit.Kit, t *doctor.Target) []svc.Finding {
	var found api.Checkup
	c, err := k.Client()
	if err == nil {
		t.Info, t.Hosts, err = known(ctx, c)
	}
	if err == nil {
		found, err = c.Checkup(ctx)
	}
	if err != nil {
		f := svc.Found(svc.FindingSkipped, "the server does not say: %v", err)
		f.Check = "server"
		return []svc.Finding{f}
	}
	list := make([]svc.Finding, len(found.Items))
	for i, f := range found.Items {
		list[i] = svc.Finding{Check: f.Check, Status: svc.FindingStatus(f.Status), Detail: f.Detail, Advice: f.Advice}
	}
	return list
}

// known returns the server and the hosts that it serves, those of productions first.
func known(ctx context.Context, c *client.Client) (*api.Server, []string, error) {
	info, err := c.ServerInfo(ctx)
	if err != nil {
		return nil, nil, err
	}
	page, err := c.Routes(ctx)
	if err != nil {
		return nil, nil, err
	}
	slices.SortStableFunc(page.Items, func(a, b api.Route) int { return cmp.Compare(b.Role, a.Role) }) // production, preview
	hosts := make([]string, len(page.Items))
	for i, r := range page.Items {
		hosts[i] = r.Host
	}
	return &info, hosts, nil
}

func (e *examination) all() []svc.Finding { return slices.Concat(e.Outside, e.Inside) }

func (e *examination) count(s svc.FindingStatus) (n int) {
	for _, f := range e.all() {
		if f.Status == s {
			n++
		}
	}
	return n
}

func (e *examination) print(k *kit.Kit) {
	var rows [][]string
	for _, part := range []struct {
		where string
		list  []svc.Finding
	}{{"outside", e.Outside}, {"inside", e.Inside}} {
		for _, f := range part.list {
			rows = append(rows, []string{part.where, f.Check, string(f.Status), f.Detail})
		}
	}
	k.Table([]string{"SEEN FROM", "CHECK", "RESULT", "DETAIL"}, rows)
	for _, a := range e.advice() {
		k.Printf("\n%s: %s", strings.Join(a.checks, ", "), kit.Clean(a.text))
	}
}

// advice is what to change, and the checks that say so.
type advice struct {
	text   string
	checks []string
}

// advice returns each advice once, in the order of the checks.
func (e *examination) advice() (list []advice) {
	for _, f := range e.all() {
		i := slices.IndexFunc(list, func(a advice) bool { return a.text == f.Advice })
		switch {
		case f.Advice == "":
		case i < 0:
			list = append(list, advice{f.Advice, []string{f.Check}})
		default:
			list[i].checks = append(list[i].checks, f.Check)
		}
	}
	return list
}
