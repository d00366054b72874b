package calls

import (
	"context"
	"errors"
	"slices"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding/services"
	"github.com/svcctl/svcctl/internal/lib/text"
	"github.com/svcctl/svcctl/internal/svc"
)

// Registry knows what exists.
type Registry interface {
	Project(ctx context.Context, id string) (svc.Project, error)
	ListProjects(ctx context.Context, p svc.PageRequest) (svc.Page[svc.Project], error)
	Version(ctx context.Context, ref svc.Ref) (svc.Version, error)
	Preview(ctx context.Context, project, name string) (svc.Preview, error)
}

// Callees checks what workers call.
type Callees struct {
	Registry Registry
	// Manifest returns the manifest of a version's bundle.
	Manifest func(ctx context.Context, ref svc.Ref) (bundle.Manifest, error)
}

// Check returns an error, Unprocessable, service_not_found, if the worker of m calls a
// project, a version or a preview that does not exist, unless the binding is optional.
func (c Callees) Check(ctx context.Context, caller svc.Ref, m *bundle.Manifest) error {
	for _, d := range services.Targets(m, caller) {
		if d.Optional {
			continue
		}
		why, err := c.lacks(ctx, d.Target)
		if err == nil && why == "" && d.Class != "" {
			why, err = c.noClass(ctx, d)
		}
		if err != nil {
			return err
		}
		if why != "" {
			return svc.Errorf(svc.Unprocessable, svc.CodeServiceNotFound, "%s: %s", d, why).
				WithHint("correct the name, deploy the other project first, or deploy with --allow-missing services")
		}
	}
	return nil
}

// lacks says what of a target does not exist; "" if it does.
func (c Callees) lacks(ctx context.Context, t services.Target) (string, error) {
	_, err := c.Registry.Project(ctx, t.Project)
	if errors.Is(err, svc.NotFound) {
		return c.noProject(ctx, t.Project)
	}
	if err != nil || t.Version == "" {
		return "", err
	}
	_, err = c.Registry.Version(ctx, svc.Ref{Project: t.Project, Version: t.Version})
	if errors.Is(err, svc.NotFound) {
		_, err = c.Registry.Preview(ctx, t.Project, t.Version)
	}
	if errors.Is(err, svc.NotFound) {
		return "project " + t.Project + " has no version or preview " + t.Version, nil
	}
	return "", err
}

// maxProjects is the number of projects, the newest ones, among which a similar name is
// searched.
const maxProjects = 200

func (c Callees) noProject(ctx context.Context, name string) (string, error) {
	page, err := c.Registry.ListProjects(ctx, svc.PageRequest{Limit: maxProjects})
	if err != nil {
		return "", err
	}
	ids := make([]string, len(page.Items))
	for i, p := range page.Items {
		ids[i] = p.ID
	}
	why := "there is no project " + name
	if near := text.Nearest(name, slices.Values(ids)); near != "" {
		why += "; did you mean " + near + "?"
	}
	return why, nil
}
