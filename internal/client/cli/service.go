package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/lib/text"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

func newService(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "service", Short: "Look at the server as a whole"}
	cmd.AddCommand(&cobra.Command{
		Use: "status", Short: "Show version, addresses, disk, backlog and last backup of the server", Args: cobra.NoArgs,
		Long: "Shows on one screen what an operator asks of a server, over the API, so also from another machine. Exits with 1 if a health check fails. " +
			"Versions that do not serve are shown and do not change the exit code. Behind a proxy that hides the health checks, the rest is shown.",
		RunE: func(cmd *cobra.Command, _ []string) error { return serviceStatus(cmd.Context(), k) },
	})
	return cmd
}

// serverStatus is what service status prints with -o json.
type serverStatus struct {
	Server  api.Server      `json:"server"`
	Health  *api.DeepHealth `json:"health"`  // null if a proxy hides it
	Traffic api.Traffic     `json:"traffic"` // of the last five minutes

	queue api.QueueHealth
}

func serviceStatus(ctx context.Context, k *kit.Kit) error {
	c, err := k.Client()
	if err != nil {
		return err
	}
	var s serverStatus
	var parts errgroup.Group
	parts.Go(func() (err error) { s.Server, err = c.ServerInfo(ctx); return err })
	parts.Go(func() error { return s.readHealth(ctx, c) })
	parts.Go(func() error {
		sum, err := c.MetricsSummary(ctx, 0)
		s.Traffic = sum.Total
		return err
	})
	if err := parts.Wait(); err != nil {
		return err
	}
	s.Server.Settings = []api.Setting{} // GET /server has them
	if err := k.Print(s, func() { s.print(k) }); err != nil {
		return err
	}
	if failed := s.failed(); failed != "" {
		return fmt.Errorf("health check failed: %s", failed)
	}
	return nil
}

// readHealth reads the health checks. A proxy that hides them, as the documentation says,
// leaves the deploy queue to look at.
func (s *serverStatus) readHealth(ctx context.Context, c *client.Client) error {
	health, err := c.DeepHealth(ctx)
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Problem.Code == "" {
		queue, err := c.DeployQueue(ctx)
		s.queue = api.QueueHealth{PendingJobs: len(queue.Items), QueueMax: queue.Max}
		return err
	}
	s.Health, s.queue = &health, health.Checks.Queue
	return err
}

func (s *serverStatus) print(k *kit.Kit) {
	info, state := s.Server, s.Server.State
	health, versions := "health unknown, a proxy hides /v1/health/deep", "-"
	if s.Health != nil {
		health, versions = healthText(s.Health), versionsLine(s.Health.Checks.Versions)
	}
	line := func(name, format string, args ...any) {
		k.Printf("  %-9s %s", name, kit.Clean(fmt.Sprintf(format, args...)))
	}
	k.Printf("svcd %s: %s", kit.Clean(info.Version), health)
	line("since", "%s (%s ago)", info.StartedAt.UTC().Format(time.RFC3339), kit.Age(info.StartedAt.Time))
	line("API", "%s", info.APIURL)
	line("gateway", "%s   hosts %s", info.GatewayURL, info.PreviewURLTemplate)
	line("data", "%s", cmp.Or(state.DataDir, "-"))
	line("disk", "%s", diskLine(state))
	line("store", "%s", storeLine(state))
	line("writes", "%s", behindLine(state))
	line("deploys", "%d of at most %d wait or run", s.queue.PendingJobs, s.queue.QueueMax)
	line("versions", "%s", versions)
	line("requests", "%d in the last 5 minutes, %d of them failed, %d by an exception; %s sent", s.Traffic.Requests, s.Traffic.Errors, s.Traffic.Exceptions, text.Bytes(s.Traffic.Bytes))
	line("backup", "%s", backupLine(state))
}

// healthText is the status and, if no other line tells it, what is wrong.
func healthText(h *api.DeepHealth) string {
	status := string(h.Status)
	if t := h.Checks.Tokens; t.Detail != "" {
		status += ", " + t.Detail
	}
	return status
}

func diskLine(s api.ServerState) string {
	if s.DiskTotalBytes == 0 { // an older server
		return "-"
	}
	return fmt.Sprintf("%s of %s free (%d %%)", text.Bytes(s.DiskFreeBytes), text.Bytes(s.DiskTotalBytes), 100*s.DiskFreeBytes/s.DiskTotalBytes)
}

func versionsLine(v api.VersionsHealth) string {
	if len(v.NotServing) == 0 {
		return "all ready ones serve"
	}
	return v.Detail + ": " + strings.Join(v.NotServing, ", ")
}

// storeLine names the object store, and the copy of the registry that an external one has.
func storeLine(s api.ServerState) string {
	store := cmp.Or(s.ObjectStore, "-")
	if !s.RegistryCopiedAt.IsZero() {
		store += ", with the registry of " + s.RegistryCopiedAt.UTC().Format(time.RFC3339)
	}
	if s.RegistryBehindSeconds > 0 {
		store += fmt.Sprintf(", %.0fs behind", s.RegistryBehindSeconds)
	}
	return store
}

// behindLine says how far the object store is behind with the data of versions.
func behindLine(s api.ServerState) string {
	if s.DataBehindSeconds == 0 {
		return "all are in the object store"
	}
	return fmt.Sprintf("the oldest that is not in the object store is %.0fs old", s.DataBehindSeconds)
}

func backupLine(s api.ServerState) string {
	if s.BackupAt.IsZero() {
		return "none: run svcctl admin backup"
	}
	return fmt.Sprintf("%s (%s ago) to %s", s.BackupAt.UTC().Format(time.RFC3339), kit.Age(s.BackupAt.Time), s.BackupTo)
}

// failed names the checks that make the server unavailable.
func (s *serverStatus) failed() string {
	if s.Health == nil {
		return ""
	}
	var names []string
	c := s.Health.Checks
	for _, part := range []struct {
		name, detail string
		status       api.CheckStatus
	}{{"registry", c.Registry.Detail, c.Registry.Status}, {"object store", c.Store.Detail, c.Store.Status}, {"deploy queue", c.Queue.Detail, c.Queue.Status}} {
		if part.status != api.CheckStatusOK {
			names = append(names, part.name+": "+kit.Clean(part.detail))
		}
	}
	return strings.Join(names, "; ")
}
