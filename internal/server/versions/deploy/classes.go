package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

// checkClasses compares the classes of Durable Objects with those of the parent. A parent without a bundle
// has nothing to compare.
func (r *run) checkClasses(ctx context.Context) error {
	if r.v.ParentID == "" {
		return nil
	}
	m, err := bundle.Load(r.bundleDir)
	if err != nil || !slices.ContainsFunc(m.ObjectClasses, func(c bundle.ObjectClass) bool { return c.Described }) {
		return err
	}
	parent, err := r.Manifest(ctx, svc.Ref{Project: r.v.Project, Version: r.v.ParentID})
	if errors.Is(err, svc.NotFound) || errors.Is(err, svc.Gone) {
		return nil
	}
	if err != nil {
		return err
	}
	unnamed, err := bundle.ComparedClasses(parent, m)
	if err != nil || len(unnamed) == 0 {
		return err
	}
	return r.warnOnce(ctx, fmt.Sprintf("exports does not name the class %s of the parent: its objects are kept, out of reach; the state deleted deletes them", strings.Join(unnamed, ", ")))
}

// warnOnce adds a warning to the version, unless an earlier attempt did.
func (r *run) warnOnce(ctx context.Context, text string) error {
	if slices.Contains(r.v.Warnings, text) {
		return nil
	}
	return r.deps.Versions.AddWarning(ctx, r.v.Ref, text)
}
