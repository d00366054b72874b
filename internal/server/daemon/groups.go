package daemon

import (
	"context"
	"errors"
	"strings"

	"github.com/svcctl/svcctl/internal/lib/cgroup"
)

// groups are the control groups of versions.
type groups struct {
	tree *cgroup.Tree // nil for none
	why  error        // without tree: why not
}

// startGroups moves this process into a control group beside those of versions, before it has
// children. Where it may not make groups, versions run without.
func (d *Daemon) startGroups(ctx context.Context, c Config) error {
	d.groups.why = errors.New("svcctl dev makes no control groups")
	if !c.WatchMode { // the terminal of a developer is not ours to divide
		d.groups.tree, d.groups.why = cgroup.Open()
	}
	if d.groups.tree == nil {
		d.logger.InfoContext(ctx, "no control groups for versions; measuring their memory", "reason", d.groups.why)
		return nil
	}
	d.stops.Push("control groups", func(context.Context) error { return d.groups.tree.Close() })
	d.logger.InfoContext(ctx, "each version gets a control group", "below", d.groups.tree.Dir(), "controllers", d.groups.controllers())
	return nil
}

// controllers returns the controllers of the groups, "" without groups.
func (g groups) controllers() string {
	if g.tree == nil {
		return ""
	}
	return strings.Join(g.tree.Controllers(), " and ")
}
