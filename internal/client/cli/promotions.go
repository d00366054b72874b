package cli

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/unmerged"
	"github.com/svcctl/svcctl/pkg/api"
)

func newPromotions(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "promotions", Short: "List and read the promotes and releases of a project", RunE: serveHelp}
	cmd.AddCommand(newPromotionsList(k), newPromotionsGet(k))
	return cmd
}

func newPromotionsList(k *kit.Kit) *cobra.Command {
	var project string
	var limit int
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the promotes and releases of a project, newest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return listPromotions(cmd.Context(), k, project, limit) },
	}
	projectFlag(cmd, &project)
	cmd.Flags().IntVar(&limit, "limit", 50, "maximum number of results (0 = no limit)")
	return cmd
}

func listPromotions(ctx context.Context, k *kit.Kit, project string, limit int) error {
	c, project, err := projectAt(k, project)
	if err != nil {
		return err
	}
	list, err := collect(c.AllPromotions(ctx, project), limit)
	if err != nil {
		return err
	}
	if k.Names() { // as promotions get takes them
		for _, p := range list.items {
			k.Printf("%s/%s", p.ProjectID, p.OperationID)
		}
		list.note(k)
		return nil
	}
	header := []string{"OPERATION", "KIND", "VERSION", "WAS", "STATUS", "AGE", "TOOK", "HELD", "REASON"}
	releases := slices.ContainsFunc(list.items, func(p api.Promotion) bool { return kindOf(p) == api.PromotionKindRelease })
	if releases {
		header = slices.Insert(header, 8, "MOVED", "LATE")
	}
	row := func(p api.Promotion) []string {
		row := []string{
			p.OperationID, string(kindOf(p)), p.VersionID, cmp.Or(p.PreviousVersionID, "none"), string(p.Status), kit.Age(p.CreatedAt.Time), promoteTook(p),
			heldOf(p), p.Reason,
		}
		if releases {
			row = slices.Insert(row, 8, movedOf(p), lateOf(p))
		}
		return row
	}
	err = k.Print(list.items, func() {
		k.TableFit(header, kit.Rows(list.items, row), "REASON", "LATE", "MOVED", "TOOK", "HELD", "WAS")
	})
	list.note(k)
	return err
}

// kindOf is promote for the records of an older server.
func kindOf(p api.Promotion) api.PromotionKind { return cmp.Or(p.Kind, api.PromotionKindPromote) }

func heldOf(p api.Promotion) string {
	if p.HeldMs == nil {
		return "-"
	}
	return millis(*p.HeldMs)
}

// movedOf is how many instances and alarms a release moved.
func movedOf(p api.Promotion) string {
	if p.Moved == nil {
		return "-"
	}
	return strconv.Itoa(p.Moved.Instances + p.Moved.Alarms)
}

// lateOf is how many late writes a release refused.
func lateOf(p api.Promotion) string {
	if kindOf(p) != api.PromotionKindRelease {
		return "-"
	}
	return strconv.Itoa(p.LateWritesRefused)
}

func promoteTook(p api.Promotion) string {
	if p.FinishedAt == nil {
		return "..."
	}
	return p.FinishedAt.Sub(p.CreatedAt.Time).Round(time.Millisecond).String()
}

// millis writes milliseconds as a duration.
func millis(ms float64) string {
	return time.Duration(ms * float64(time.Millisecond)).Round(10 * time.Microsecond).String()
}

// windowOf is the time that visitors saw no answer.
func windowOf(p api.Promotion) string {
	if p.WindowMs == nil {
		return "no request"
	}
	return millis(*p.WindowMs)
}

func newPromotionsGet(k *kit.Kit) *cobra.Command {
	var project string
	cmd := &cobra.Command{
		Use: "get [PROJECT/]OPERATION", Short: "Show one promote or release and its steps", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return getPromotion(cmd.Context(), k, project, args[0]) },
	}
	projectFlag(cmd, &project)
	return cmd
}

func getPromotion(ctx context.Context, k *kit.Kit, project, operation string) error {
	project, operation, err := splitRef(operation, project)
	if err != nil {
		return err
	}
	c, project, err := projectAt(k, project)
	if err != nil {
		return err
	}
	p, err := c.Promotion(ctx, project, operation)
	if err != nil {
		return err
	}
	return k.Print(p, func() {
		k.Printf("%s: %s of %s/%s, %s", p.OperationID, kindAndStatus(p), p.ProjectID, p.VersionID, promoteTook(p))
		k.Printf("  was      %s", cmp.Or(p.PreviousVersionID, "none"))
		k.Printf("  created  %s (%s ago)", p.CreatedAt.UTC().Format(time.RFC3339), kit.Age(p.CreatedAt.Time))
		if p.HeldMs != nil {
			k.Printf("  waited   new requests at most %s, %s between two answers", millis(*p.HeldMs), windowOf(p))
		}
		showRelease(k, p)
		if p.Reason != "" {
			k.Printf("  reason   %s", kit.Clean(p.Reason))
		}
		if p.Error != "" {
			k.Printf("  error    %s", indented(p.Error))
		}
		for _, s := range p.Steps {
			k.Printf("  %-10s %-8s %8s  %s", s.Step, s.Status, took(s), kit.Clean(s.Detail))
		}
		printLeft(k, p.Unmerged, p.Waiting, p.PreviousVersionID, p.VersionID)
		if unmerged.Left(p.Unmerged) && p.Status == api.PromotionStatusDone {
			k.Notef("to export them: %s", unmerged.Rescue(p.ProjectID, p.PreviousVersionID))
			k.Notef("%s", guideHint)
		}
	})
}

// kindAndStatus is "release done"; a promote has its status alone.
func kindAndStatus(p api.Promotion) string {
	if kindOf(p) == api.PromotionKindRelease {
		return "release " + string(p.Status)
	}
	return string(p.Status)
}

// showRelease shows what a release has beside a promote.
func showRelease(k *kit.Kit, p api.Promotion) {
	if kindOf(p) != api.PromotionKindRelease {
		return
	}
	k.Printf("  code     of %s", cmp.Or(p.CandidateVersionID, "-"))
	k.Printf("  hold     %s expected", holdOf(p.ExpectedHoldMs))
	for _, s := range p.HoldSteps {
		k.Printf("    %-10s %8s", kit.Clean(s.Step), wholeMillis(s.Ms))
	}
	k.Printf("  late     %s refused", count(int64(p.LateWritesRefused), "write"))
	if moved := movedParts(p.Moved); len(moved) > 0 {
		k.Printf("  moved    %s", strings.TrimSuffix(strings.Join(moved, ", "), " moved"))
	}
}
