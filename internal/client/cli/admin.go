package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/cli/whole"
	"github.com/svcctl/svcctl/internal/lib/text"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

func newAdmin(k *kit.Kit, runs whole.Runs) *cobra.Command {
	cmd := &cobra.Command{Use: "admin", Short: "Maintain a server", RunE: serveHelp}
	cmd.AddCommand(newAdminGC(k), newAdminRetention(k), newAdminUpgrade(k), newAdminManifests(k), newAdminSecrets(k))
	cmd.AddCommand(runs.Admin(k)...)
	return cmd
}

type adminGC struct {
	project       string
	dryRun, audit bool
}

func newAdminGC(k *kit.Kit) *cobra.Command {
	var o adminGC
	cmd := &cobra.Command{
		Use: "gc", Short: "Delete objects that no version needs from the object store", Args: cobra.NoArgs,
		Long: "Sweeps the object store now: objects that no version needs are marked, and deleted after the grace period (SVC_GC_GRACE). " +
			"The server does the same every SVC_GC_EVERY. --dry-run changes nothing and reports for each version which objects it needs, " +
			"which objects only other versions need, and which are due for deletion. --audit verifies that every database of the " +
			"versions can be restored, and exits with 1 if not. R2 bodies are not part of the audit: the runtime of " +
			"each version checks them an hour after its start and then once a day, and logs the problems.",
		RunE: func(cmd *cobra.Command, _ []string) error { return collectGarbage(cmd.Context(), k, o) },
	}
	cmd.Flags().StringVarP(&o.project, "project", "p", "", "only this project (default: all)")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "report what would be deleted, without changes")
	cmd.Flags().BoolVar(&o.audit, "audit", false, "verify that all databases can be restored")
	return cmd
}

func collectGarbage(ctx context.Context, k *kit.Kit, o adminGC) error {
	if o.dryRun && o.audit {
		return kit.Usagef("--audit changes nothing: remove --dry-run")
	}
	c, err := k.Client()
	if err != nil {
		return err
	}
	progress := k.NewProgress()
	defer progress.Abort()
	if o.audit {
		progress.Stage("auditing the object store")
		a, err := c.AuditStorage(ctx, o.project)
		if err != nil {
			return err
		}
		progress.Done("")
		return showAudit(k, a)
	}
	collect, stage := (*client.Client).CollectGarbage, "sweeping the object store"
	if o.dryRun {
		collect, stage = (*client.Client).Garbage, "looking at the object store"
	}
	progress.Stage(stage)
	r, err := collect(c, ctx, o.project)
	if err != nil {
		return err
	}
	progress.Done("")
	return k.Print(r, func() { showGarbage(k, r) })
}

// showGarbage prints a row for each version, then what it comes to.
func showGarbage(k *kit.Kit, r api.GarbageReport) {
	gone, done := "DELETED", "deleted"
	if r.DryRun {
		gone, done = "DUE", "due"
	}
	var rows [][]string
	for _, p := range r.Projects {
		for _, v := range p.Versions {
			rows = append(rows, []string{
				p.ProjectID + "/" + v.VersionID, cmp.Or(v.Status, "-"), cmp.Or(v.State, "-"), sum(v.Live), sum(v.Pinned), pinners(v.PinnedBy),
				waiting(v), sum(v.Gone), sum(v.Other),
			})
		}
		if a := p.Assets; a != (api.GarbageAssets{}) {
			rows = append(rows, []string{p.ProjectID, "-", "assets", sum(a.Live), "-", "-", sum(a.Waiting), sum(a.Gone), "-"})
		}
	}
	k.Table([]string{"VERSION", "STATUS", "DATA", "LIVE", "PINNED", "PINNED BY", "WAITING", gone, "OTHER"}, rows)
	k.Printf("%s: %s; waiting %s; pinned %s; live %s", done, sum(r.Total.Gone), sum(r.Total.Waiting), sum(r.Total.Pinned), sum(r.Total.Live))
	for _, p := range r.Projects {
		showProject(k, p, r.DryRun)
	}
	noteIncomplete(k, r.Incomplete)
}

// showProject prints what the table has no column for.
func showProject(k *kit.Kit, p api.GarbageProject, dryRun bool) {
	marked := "marked for deletion"
	if dryRun {
		marked = "would be marked for deletion"
	}
	for _, line := range []struct {
		text     string
		versions []string
	}{{marked, p.Marked}, {"fully deleted", p.Removed}} {
		if len(line.versions) > 0 {
			k.Printf("%s: %s of %s", line.text, strings.Join(line.versions, ", "), p.ProjectID)
		}
	}
	for _, b := range p.Broken {
		k.Notef("warning: %s/%s: nothing is deleted: %s: %s", b.ProjectID, b.VersionID, b.Code, kit.Clean(b.Detail))
	}
	if p.Error != "" {
		k.Notef("warning: %s", kit.Clean(p.Error))
	}
}

func noteIncomplete(k *kit.Kit, incomplete bool) {
	if incomplete {
		k.Notef("warning: incomplete: time limit reached; the server continues in the background. Use --project to limit the report to one project")
	}
}

// sum is an amount in a cell; nothing is a dash.
func sum(a api.ObjectAmount) string {
	if a.Objects == 0 {
		return "-"
	}
	return fmt.Sprintf("%s (%d)", text.Bytes(a.Bytes), a.Objects)
}

func pinners(pins []api.GarbagePin) string {
	var names []string
	for _, p := range pins {
		names = append(names, p.VersionID)
	}
	return cmp.Or(strings.Join(names, ","), "-")
}

// waiting is what waits, and for how long.
func waiting(v api.GarbageVersion) string {
	if v.Waiting.Objects == 0 {
		return "-"
	}
	left := time.Duration(v.WaitingSeconds * float64(time.Second)).Round(time.Second)
	return sum(v.Waiting) + " " + left.String()
}

// showAudit prints the problems; that there are any is an error.
func showAudit(k *kit.Kit, a api.StorageAudit) error {
	err := k.Print(a, func() {
		if len(a.Problems) > 0 {
			k.Table([]string{"VERSION", "PROBLEM", "STORE", "OBJECTS", "KEY", "DETAIL"}, kit.Rows(a.Problems, func(p api.StorageProblem) []string {
				return []string{strings.TrimSuffix(p.ProjectID+"/"+p.VersionID, "/"), p.Code, cmp.Or(p.Store, "-"), fmt.Sprint(p.Objects), cmp.Or(p.Key, "-"), p.Detail}
			}))
		}
		k.Printf("%d projects, %d versions, %d stores, %d files: %s", a.Projects, a.Versions, a.Stores, a.Files, problems(len(a.Problems)))
		noteIncomplete(k, a.Incomplete)
	})
	if err == nil && len(a.Problems) > 0 {
		return fmt.Errorf("the audit found %s", problems(len(a.Problems)))
	}
	return err
}

func problems(n int) string {
	switch n {
	case 0:
		return "no problem"
	case 1:
		return "1 problem"
	}
	return fmt.Sprintf("%d problems", n)
}
