package cli

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/lib/text"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

func newVersions(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "versions", Aliases: []string{"version-list"}, Short: "List, read, archive and destroy versions", RunE: serveHelp}
	cmd.AddCommand(newVersionsList(k), newVersionsGet(k), newVersionsTree(k), newVersionsBundle(k), newVersionsCompare(k),
		newVersionsArchive(k), newVersionsWake(k), newVersionsDelete(k), newVersionsPin(k), newVersionsUnpin(k))
	return cmd
}

// serveHelp is what a noun does without a verb.
func serveHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

type versionsList struct {
	project string
	status  string
	labels  []string
	limit   int
}

func newVersionsList(k *kit.Kit) *cobra.Command {
	var o versionsList
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the versions of a project, newest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return listVersions(cmd.Context(), k, o) },
	}
	cmd.Flags().StringVarP(&o.project, "project", "p", "", "project (default: the worker directory's)")
	cmd.Flags().StringVar(&o.status, "status", "", "only versions with this status")
	cmd.Flags().StringSliceVar(&o.labels, "label", nil, "only versions with this label, NAME=VALUE or NAME; may be repeated")
	cmd.Flags().IntVar(&o.limit, "limit", 50, "maximum number of results (0 = no limit)")
	return cmd
}

func listVersions(ctx context.Context, k *kit.Kit, o versionsList) error {
	if o.status != "" && !api.VersionStatus(o.status).Valid() {
		return kit.Usagef("unknown status %q", o.status)
	}
	c, project, err := projectAt(k, o.project)
	if err != nil {
		return err
	}
	found := c.AllVersions(ctx, project, api.VersionStatus(o.status))
	if len(o.labels) > 0 {
		q := client.VersionQuery{Project: project, Labels: o.labels}
		if o.status != "" {
			q.Statuses = []api.VersionStatus{api.VersionStatus(o.status)}
		}
		found = c.AllFound(ctx, q)
	}
	list, err := collect(found, o.limit)
	if err != nil {
		return err
	}
	err = k.Print(list.items, func() { showVersions(k, list.items) })
	list.note(k)
	return err
}

// showVersions prints a row for each version. The column of errors is there when a
// version failed.
func showVersions(k *kit.Kit, items []api.Version) {
	header := []string{"VERSION", "STATUS", "RUNTIME", "PROD", "PIN", "PARENT", "AGE", "REQUEST", "REF", "URL"}
	if k.Wide() {
		header = append(header, "SHA", "CREATED", "SIZE")
	}
	failed := slices.ContainsFunc(items, func(v api.Version) bool { return v.ErrorCode != "" })
	if failed {
		header = append(header, "ERROR")
	}
	var rows [][]string
	for _, v := range items {
		row := []string{
			v.ID, string(v.Status), runtimeState(v), mark(v.IsProduction), pinOf(v), parentOf(v), kit.Age(v.CreatedAt.Time), lastRequest(v), v.GitRef,
			v.PreviewURL,
		}
		if k.Wide() {
			row = append(row, v.GitSHA, v.CreatedAt.UTC().Format(time.RFC3339), text.Bytes(v.SizeBytes))
		}
		if v.ErrorCode != "" {
			row = append(row, v.ErrorStep+": "+v.ErrorCode)
		}
		rows = append(rows, row)
	}
	k.TableFit(header, rows, "URL", "REF", "REQUEST", "PIN", "PARENT", "ERROR", "RUNTIME")
}

// parentOf is the parent of a version; "" for a root.
func parentOf(v api.Version) string {
	if v.ParentVersionID == nil {
		return ""
	}
	return *v.ParentVersionID
}

// lastRequest is how long ago a version was last asked; "-" for never.
func lastRequest(v api.Version) string {
	if v.LastRequestAt == nil {
		return "-"
	}
	return kit.Age(v.LastRequestAt.Time)
}

// runtimeState is the state of the runtime, "" without one.
func runtimeState(v api.Version) string {
	if v.Runtime == nil {
		return ""
	}
	return string(v.Runtime.State)
}

// showRuntime shows a runtime that has crashed or does not serve.
func showRuntime(k *kit.Kit, v api.Version) {
	r := v.Runtime
	if r == nil {
		return
	}
	cell := string(r.State) + kit.Clean(runsOn(r))
	if r.Restarts > 0 {
		cell += ", crashes: " + strconv.Itoa(r.Restarts)
	}
	if r.RetryAt != nil {
		cell += ", next start in " + max(0, time.Until(r.RetryAt.Time)).Round(time.Second).String()
	}
	if r.WakeAt != nil {
		cell += ", next work in " + max(0, time.Until(r.WakeAt.Time)).Round(time.Second).String()
	}
	k.Printf("  runtime  %s", cell)
	if r.LastError != "" {
		k.Printf("  crash    %s", indented(r.LastError))
	}
}

// runsOn says which machine runs a version, or which pod on which node; "" for the machine of
// the server.
func runsOn(r *api.Runtime) string {
	switch {
	case r.Node == "":
		return ""
	case r.ClusterNode == "":
		return " on " + r.Node
	}
	return " in the pod " + r.Node + " on " + r.ClusterNode
}

// pinOf marks a pin, and tells that of a previous production apart.
func pinOf(v api.Version) string {
	if v.PinnedBy == api.VersionPinnedByRollback {
		return "rollback"
	}
	return mark(v.Pinned)
}

func pinText(v api.Version) string {
	if v.PinnedBy == api.VersionPinnedByRollback {
		return "rollback: kept as the previous production"
	}
	return yesNo(v.Pinned)
}

func mark(yes bool) string {
	if yes {
		return "*"
	}
	return ""
}

type versionsGet struct {
	project string
	wait    bool
	reveal  bool
	timeout time.Duration
}

func newVersionsGet(k *kit.Kit) *cobra.Command {
	var o versionsGet
	cmd := &cobra.Command{
		Use: "get [PROJECT/]VERSION", Short: "Show one version and its timeline", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return getVersion(cmd.Context(), k, o, args[0]) },
	}
	cmd.Flags().StringVarP(&o.project, "project", "p", "", "project (default: the worker directory's)")
	cmd.Flags().BoolVar(&o.wait, "wait", false, "wait until it is ready or failed")
	cmd.Flags().BoolVar(&o.reveal, "reveal", false, "show the values of the variables")
	cmd.Flags().DurationVar(&o.timeout, "timeout", 5*time.Minute, "time limit for waiting")
	return cmd
}

func getVersion(ctx context.Context, k *kit.Kit, o versionsGet, arg string) error {
	c, project, id, err := versionAt(k, arg, o.project)
	if err != nil {
		return err
	}
	var ended *client.VersionError // the record is shown all the same
	if o.wait {
		_, err := waitReady(ctx, k, c, deployWait(k, project, id, o.timeout))
		if err != nil && !errors.As(err, &ended) {
			return err
		}
		if ended != nil {
			showLogs(ctx, k, c, ended.Version, asBuilt)
		}
	}
	read := c.Version
	if o.reveal {
		read = c.RevealVersion
	}
	v, err := read(ctx, project, id)
	if err != nil {
		return err
	}
	err = k.Print(v, func() {
		showVersion(k, v)
		if next := nextOf(ctx, c, v); next != "" {
			k.Notef("next: %s", next)
		}
	})
	if err == nil && ended != nil {
		return ended
	}
	return err
}

func showVersion(k *kit.Kit, v api.Version) {
	production := ""
	if v.IsProduction {
		production = ", production at " + v.ProdURL
	}
	k.Printf("%s/%s: %s%s", v.ProjectID, v.ID, v.Status, kit.Clean(production))
	k.Printf("  url      %s", kit.Clean(v.PreviewURL))
	k.Printf("  created  %s (%s ago)", v.CreatedAt.UTC().Format(time.RFC3339), kit.Age(v.CreatedAt.Time))
	if v.ReadyAt != nil {
		k.Printf("  ready    after %s", v.ReadyAt.Sub(v.CreatedAt.Time).Round(time.Millisecond))
	}
	k.Printf("  request  %s", lastRequestOf(v))
	k.Printf("  digest   %s (%s)", v.ArtifactDigest, text.Bytes(v.SizeBytes))
	k.Printf("  pinned   %s", pinText(v))
	k.Printf("  parent   %s%s", cmp.Or(kit.Clean(parentOf(v)), "none"), cutAt(v))
	showOrigin(k, v)
	if v.GitRef != "" || v.GitSHA != "" {
		k.Printf("  git      %s", kit.Clean(strings.TrimSpace(v.GitRef+" "+v.GitSHA)))
	}
	for _, name := range slices.Sorted(maps.Keys(v.Labels)) {
		k.Printf("  label    %s=%s", kit.Clean(name), kit.Clean(v.Labels[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(v.Env)) {
		k.Printf("  var      %s  %s", kit.Clean(name), kit.Clean(v.Env[name]))
	}
	showRuntime(k, v)
	for _, w := range v.Warnings {
		k.Printf("  warning  %s", kit.Clean(w))
	}
	if v.Error != "" {
		k.Printf("  error    %s", indented(cmp.Or(v.ErrorInSources, v.Error)))
	}
	if v.ErrorOutput != "" {
		k.Printf("  output   %s", indented(cmp.Or(v.ErrorOutputInSources, v.ErrorOutput)))
	}
	for _, s := range v.Timeline {
		detail := kit.Clean(s.Detail)
		if s.Detail == v.Error {
			detail = "" // said above
		}
		k.Printf("  %-10s %-8s %8s  %s", s.Step, s.Status, took(s), detail)
	}
}

// lastRequestOf is when a version was last asked.
func lastRequestOf(v api.Version) string {
	if v.LastRequestAt == nil {
		return "none"
	}
	return v.LastRequestAt.UTC().Format(time.RFC3339) + " (" + kit.Age(v.LastRequestAt.Time) + " ago)"
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// indented cleans a text of several lines and aligns them with the first.
func indented(lines string) string {
	return strings.ReplaceAll(kit.Clean(lines), "\n", "\n           ")
}

// cutAt says at which moment a version left its parent.
func cutAt(v api.Version) string {
	if v.ForkTXID == "" {
		return ""
	}
	return " (cut " + kit.Clean(v.ForkTXID) + ")"
}

func took(s api.StepRun) string {
	if s.EndedAt == nil {
		return "..."
	}
	return s.EndedAt.Sub(s.StartedAt.Time).Round(time.Millisecond).String()
}
