package cli

import (
	"context"
	"strings"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/client"
)

// The words of --parent that are no ids.
const (
	noParent         = "none"
	productionParent = "production"
	atProduction     = "@production" // the server resolves it
)

// parentHelp says what happens to data.
const parentHelp = "version whose data the new one begins with; production for that of the project, none for no data (default: none). Later writes of the parent do not follow"

// namesVersion reports whether the command line names a parent of the usual kind: the id of a version.
func namesVersion(parent string) bool {
	return parent != "" && parent != noParent && parent != productionParent && parent != atProduction
}

// resolveParent reads the words of --parent in a project: "" for none, "@production", or an id.
// A version with the id production wins over the word.
func resolveParent(ctx context.Context, c *client.Client, project, parent string) string {
	parent = strings.TrimPrefix(parent, project+"/") // as other commands print it
	word := map[string]string{noParent: "", productionParent: atProduction}
	resolved, ok := word[parent]
	if !ok {
		return parent
	}
	if parent == productionParent {
		if _, err := c.Version(ctx, project, parent); err == nil {
			return parent
		}
	}
	return resolved
}

// checkParent refuses a parent that contradicts other flags.
func (o deployOptions) checkParent() error {
	switch {
	case o.preview.on && o.parent == noParent:
		return kit.Usagef("--parent none is for svcctl deploy: a preview begins with the data of its parent, or use --fresh")
	case o.release && o.parent != "" && o.parent != productionParent && o.parent != atProduction:
		return kit.Usagef("--release begins with the data of production, and --parent names %s: use --promote for the data of another version", o.parent)
	}
	return nil
}
