package binding

import (
	"context"

	"github.com/svcctl/svcctl/internal/svc"
)

// Scrubber is an Instance whose data can be scrubbed with SQL, in the step
// `preparing` of a version that begins with production's data [D23].
//
// When its data came from a parent, Scrub runs sql as one transaction, once for
// each id: a child begins with what its parent's scrub left, and with the mark of
// it. Data that is new is marked and no more. name names the binding in errors,
// which are Unprocessable, scrub_failed, or sql's own.
type Scrubber interface {
	Scrub(ctx context.Context, name, id string, sql func() (string, error)) error
}

// Scrub does s to the data of every Scrubber. Call it before Migrate. It is
// idempotent and resumes after a crash. project is the version's.
func (s *Set) Scrub(ctx context.Context, project string, scrub svc.Scrub) error {
	if scrub.ID == "" {
		return nil
	}
	done := map[string]bool{}
	for _, b := range s.bindings {
		route := Route(b.Binding)
		in, ok := s.instances[route].(Scrubber)
		if !ok || done[route] {
			continue
		}
		sql := func() (string, error) { return scrub.For(project, b.Resource) }
		if err := in.Scrub(ctx, b.Name, scrub.ID, sql); err != nil {
			return err
		}
		done[route] = true
	}
	return nil
}
