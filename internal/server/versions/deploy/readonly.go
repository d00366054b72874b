package deploy

import "context"

// ReadOnlyChanged reports that a project may have become read-only or writable: it publishes what the
// registry has to the gateway, and later starts begin with it.
func (s *Service) ReadOnlyChanged(ctx context.Context, project string) error {
	s.readOnly.Lock() // the last call publishes the newest record
	defer s.readOnly.Unlock()
	p, err := s.deps.Submissions.Project(ctx, project)
	if err != nil {
		return err
	}
	s.routes.setReadOnly(project, p.ReadOnly)
	return nil
}

// loadReadOnly reads which projects are read-only, before their versions are announced.
func (s *Service) loadReadOnly(ctx context.Context) error {
	s.readOnly.Lock()
	defer s.readOnly.Unlock()
	projects, err := s.deps.Inventory.ReadOnlyProjects(ctx)
	if err != nil {
		return err
	}
	for _, id := range projects {
		s.routes.setReadOnly(id, true)
	}
	return nil
}

// setReadOnly publishes whether a project is read-only.
func (t *routes) setReadOnly(project string, on bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.readOnly[project] == on {
		return
	}
	if t.readOnly[project] = on; !on {
		delete(t.readOnly, project)
	}
	for ref := range t.known {
		if ref.Project == project {
			t.publish(ref)
		}
	}
}

func (t *routes) isReadOnly(project string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.readOnly[project]
}
