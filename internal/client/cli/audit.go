package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

type auditOptions struct {
	since   string
	project string
	version string
	action  string
	limit   int
}

func newAudit(k *kit.Kit) *cobra.Command {
	var o auditOptions
	cmd := &cobra.Command{
		Use: "audit", Short: "Show who changed what on the server", Args: cobra.NoArgs,
		Long: "Lists the changes that clients of the API made or attempted, newest first: when, who, what changed and why. -o wide adds the token, the " +
			"address, the operation of the API, and the fields before and after. SVCCTL_ACTOR, else the user and the run of GitHub Actions or " +
			"GitLab CI, else the user of this machine, is recorded as the actor of the changes that svcctl makes.",
		Example: "  svcctl audit --since 24h --project shop",
		RunE:    func(cmd *cobra.Command, _ []string) error { return audit(cmd.Context(), k, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.since, "since", "", "only changes since this time (RFC 3339), or of this duration until now, such as 24h or 7d")
	f.StringVarP(&o.project, "project", "p", "", "only changes of this project")
	f.StringVar(&o.version, "version-id", "", "only changes of this version")
	f.StringVar(&o.action, "action", "", "only this operation of the API, such as promoteVersion")
	f.IntVar(&o.limit, "limit", 50, "maximum number of results (0 = no limit)")
	return cmd
}

func audit(ctx context.Context, k *kit.Kit, o auditOptions) error {
	c, err := k.Client()
	if err != nil {
		return err
	}
	f := client.AuditFilter{Since: o.since, Project: o.project, Version: o.version, Action: o.action}
	list, err := collect(c.AllAudit(ctx, f), o.limit)
	if err != nil {
		return err
	}
	err = k.Print(list.items, func() {
		if k.Wide() {
			showRecords(k, list.items)
			return
		}
		showDeeds(k, list.items)
	})
	list.note(k)
	return err
}

// showRecords shows all that is recorded.
func showRecords(k *kit.Kit, items []api.AuditRecord) {
	header := []string{"TIME", "ACTOR", "TOKEN", "CLIENT", "ACTION", "TARGET", "STATUS", "REASON", "CHANGE"}
	rows := make([][]string, len(items))
	for i, a := range items {
		target := a.ProjectID
		if a.VersionID != "" {
			target += "/" + a.VersionID
		}
		rows[i] = []string{
			a.Time.UTC().Format(time.RFC3339), cmp.Or(a.Actor.Name, "-"), a.Actor.Token, a.Actor.Client, a.Action, target,
			strconv.Itoa(a.Status), a.Reason, changeText(a.Before, a.After),
		}
	}
	k.Table(header, rows)
}

// changeText shows the fields before and after in one line.
func changeText(before, after map[string]any) string {
	if len(before)+len(after) == 0 {
		return ""
	}
	was, err := json.Marshal(before)
	is, err2 := json.Marshal(after)
	if err != nil || err2 != nil {
		return ""
	}
	return string(was) + " -> " + string(is)
}
