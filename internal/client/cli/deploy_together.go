package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
)

// deployTogether deploys several workers, in order. With --release all candidates come first, then
// the releases: a worker that does not build or start leaves every production unchanged.
func deployTogether(ctx context.Context, k *kit.Kit, o deployOptions, order []configured) error {
	var waiting []*candidate
	for _, w := range order {
		one := o
		one.build.config, one.configs = w.config, nil
		d, err := newDeployment(ctx, k, one)
		if err != nil {
			return fmt.Errorf("%s: %w%s", w.file.Name, err, abandon(waiting))
		}
		r, err := d.prepare(ctx)
		if err != nil {
			left := abandon(waiting) // first: the comment of the job is about the failure
			return fmt.Errorf("%s: %w%s", w.file.Name, d.finish(ctx, err), left)
		}
		if r == nil {
			if err := d.finish(ctx, nil); err != nil {
				return fmt.Errorf("%s: %w%s", w.file.Name, err, abandon(waiting))
			}
			continue
		}
		d.j.endGroup()
		r.name = w.file.Name
		waiting = append(waiting, r)
	}
	return releaseInOrder(ctx, waiting)
}

// releaseInOrder releases candidates. A failure ends it, and names what is released and what is not.
func releaseInOrder(ctx context.Context, waiting []*candidate) error {
	for i, r := range waiting {
		err := r.release(ctx)
		if err != nil {
			abandon(waiting[i+1:])
		}
		if err := r.finish(ctx, err); err != nil {
			return fmt.Errorf("%s: %w%s%s", r.name, err, workersLine("released", waiting[:i]), workersLine("not released", waiting[i:]))
		}
	}
	return nil
}

// abandon ends the jobs of candidates that are not released, and names them.
func abandon(waiting []*candidate) string {
	for _, r := range waiting {
		r.j.report.Error = "not released, because another worker failed"
		if err := r.j.finish(nil); err != nil {
			r.k.Notef("%s: %v", r.name, err)
		}
	}
	return workersLine("not released", waiting)
}

// workersLine is a line with the names of workers; "" for none.
func workersLine(what string, list []*candidate) string {
	var names []string
	for _, r := range list {
		names = append(names, r.name)
	}
	if len(names) == 0 {
		return ""
	}
	return "\n" + what + ": " + strings.Join(names, ", ")
}
