package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// nextOf is the command that probably comes after reading v; "" for none.
func nextOf(ctx context.Context, c *client.Client, v api.Version) string {
	ref := v.ProjectID + "/" + v.ID
	switch {
	case v.Status == api.VersionStatusFailed:
		return "svcctl logs " + ref
	case v.Status == api.VersionStatusArchived:
		return "svcctl versions wake " + ref
	case v.Status != api.VersionStatusReady, v.IsProduction:
		return ""
	case v.PreviewName != "" || ofRequest(v.GitRef):
		return "svcctl open " + ref
	}
	switch p, err := c.Project(ctx, v.ProjectID); {
	case err != nil: // the deploy token may not read it
		return ""
	case p.ProdVersionID == "":
		return "svcctl promote " + ref
	case v.HandedOverTo != "":
		return ""
	}
	return "svcctl release " + ref
}

// ofRequest reports whether a git ref is that of a pull request, by the default of SVC_PR_REFS.
func ofRequest(ref string) bool {
	return slices.ContainsFunc([]string{"refs/pull/", "refs/merge-requests/", "pull/", "pr/"}, func(prefix string) bool { return strings.HasPrefix(ref, prefix) })
}

// showOrigin shows what a release made of a version, or made from it.
func showOrigin(k *kit.Kit, v api.Version) {
	if v.ReleasedFrom != "" {
		k.Printf("  released from %s", kit.Clean(v.ReleasedFrom))
	}
	if v.HandedOverTo != "" {
		k.Printf("  events   handed over to %s", kit.Clean(v.HandedOverTo))
	}
	if v.Events == api.VersionEventsOff {
		k.Printf("  events   off: it rehearses a release")
	}
}
