package secrets

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"

	"github.com/svcctl/svcctl/internal/lib/keyed"
	"github.com/svcctl/svcctl/internal/lib/keyring"
	"github.com/svcctl/svcctl/internal/lib/service"
	"github.com/svcctl/svcctl/internal/svc"
)

// Registry keeps sealed secrets, and knows the versions that use them.
type Registry interface {
	Project(ctx context.Context, id string) (svc.Project, error)
	Version(ctx context.Context, ref svc.Ref) (svc.Version, error)
	VersionsByStatus(ctx context.Context, statuses ...svc.Status) ([]svc.Version, error)
	Environment(ctx context.Context, ref svc.Ref) (svc.Environment, error)
	Secrets(ctx context.Context, project string) ([]svc.SealedSecret, error)
	AllSecrets(ctx context.Context) ([]svc.SealedSecret, error)
	// WriteSecrets returns the secrets of the project after the change. Its error is Conflict,
	// promote_in_progress, if production is being changed.
	WriteSecrets(ctx context.Context, w svc.SecretWrite) ([]svc.SealedSecret, error)
	// ResealSecret reports false if the secret changed meanwhile.
	ResealSecret(ctx context.Context, was, next svc.SealedSecret) (done bool, err error)
	// Promoted reports whether a promote or a release made a version production, or is about to.
	Promoted(ctx context.Context, ref svc.Ref) (bool, error)
}

// Runtimes restarts versions behind held requests: lifecycle.Service.
type Runtimes interface {
	// TrySecrets restarts a version that serves with secrets that are not recorded. If it does not
	// start, it runs with the recorded ones again.
	TrySecrets(ctx context.Context, ref svc.Ref, secrets map[string]string) error
	// RefreshSecrets restarts a version whose process began with other secrets than the recorded ones.
	RefreshSecrets(ctx context.Context, ref svc.Ref) (restarted bool, err error)
}

// Deps are the dependencies of a Service.
type Deps struct {
	Registry Registry
	Runtimes func() Runtimes // it is made later
	Forks    svc.ForkPolicy  // tells the git refs of pull requests
	Keys     *keyring.Ring   // nil: no secrets can be set
	Logger   *slog.Logger
}

// Service is the sealed store of secrets.
type Service struct {
	deps  Deps
	ring  atomic.Pointer[keyring.Ring]
	locks keyed.Mutex[string] // by project; held by a change
	work  service.Work
}

// New returns a Service, or an error if a dependency is missing.
func New(deps Deps) (*Service, error) {
	if deps.Registry == nil || deps.Runtimes == nil || deps.Logger == nil {
		return nil, errors.New("secrets: registry, runtimes and logger required")
	}
	s := &Service{deps: deps}
	s.ring.Store(deps.Keys)
	return s, nil
}

// SetKeys replaces the keys.
func (s *Service) SetKeys(ring *keyring.Ring) { s.ring.Store(ring) }

// SealingKey returns the id of the key that seals; "" without a key.
func (s *Service) SealingKey() string {
	if ring := s.ring.Load(); ring != nil {
		return ring.Current()
	}
	return ""
}

// PullRequests returns the patterns of git refs whose versions have the class preview.
func (s *Service) PullRequests() []string { return s.deps.Forks.PRRefs }

// Stop accepts no more changes and waits for the running ones, until ctx ends.
func (s *Service) Stop(ctx context.Context) error { return s.work.Stop(ctx) }

// List returns the secrets of a project, without opening them. Errors: NotFound, project_not_found.
func (s *Service) List(ctx context.Context, project string) ([]svc.SealedSecret, error) {
	if _, err := s.deps.Registry.Project(ctx, project); err != nil {
		return nil, err
	}
	return s.deps.Registry.Secrets(ctx, project)
}

// Of returns the secrets that a version starts with now, by name. Errors: Unavailable,
// secret_unreadable.
func (s *Service) Of(ctx context.Context, v svc.Version) (map[string]string, error) {
	rows, err := s.deps.Registry.Secrets(ctx, v.Project)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	class, err := s.class(ctx, v)
	if err != nil {
		return nil, err
	}
	return s.openAll(rows, class)
}

// class returns the class of the secrets that a version gets: production that was promoted gets those of
// releases, whatever its preview name or git ref says.
func (s *Service) class(ctx context.Context, v svc.Version) (svc.SecretClass, error) {
	class := s.deps.Forks.SecretClass(v)
	if class == svc.SecretRelease {
		return class, nil
	}
	promoted, err := s.deps.Registry.Promoted(ctx, v.Ref)
	if promoted {
		class = svc.SecretRelease
	}
	return class, err
}

func (s *Service) openAll(rows []svc.SealedSecret, class svc.SecretClass) (map[string]string, error) {
	values := map[string]string{}
	for _, row := range rows {
		if row.Class != class {
			continue
		}
		value, err := s.open(row.SecretName, row.Value)
		if err != nil {
			return nil, err
		}
		values[row.Name] = value
	}
	return values, nil
}
