package secrets

import (
	"context"
	"errors"
	"sync"

	"github.com/svcctl/svcctl/internal/svc"
)

// restarts is the number of versions that a change restarts at a time, beside production.
const restarts = 2

// try restarts production with values, if it uses one of the changed names, and reports whether it did.
func (s *Service) try(ctx context.Context, prod svc.Ref, class svc.SecretClass, values map[string]string, changed []string) (tried bool, err error) {
	if prod.Version == "" {
		return false, nil
	}
	v, err := s.deps.Registry.Version(ctx, prod)
	if err != nil {
		return false, err
	}
	uses, err := s.uses(ctx, v, class, changed)
	if err != nil || !uses {
		return false, err
	}
	err = s.deps.Runtimes().TrySecrets(ctx, prod, values)
	if err == nil || errors.Is(err, svc.Conflict) || svc.CodeOf(err) == svc.CodeShuttingDown {
		return err == nil, err
	}
	known := svc.AsError(err)
	return false, svc.Errorf(svc.Internal, svc.CodeSecretRestartFailed, "production %s did not start with the changed secrets: %s: %s", prod, known.Code, known.Detail).
		WithHint("correct the value and put it again; production runs with the earlier ones").Because(err)
}

// untry gives production its recorded secrets again.
func (s *Service) untry(ctx context.Context, prod svc.Ref, tried bool) {
	if !tried {
		return
	}
	if _, err := s.deps.Runtimes().RefreshSecrets(ctx, prod); err != nil {
		s.deps.Logger.ErrorContext(ctx, "restarting production with its recorded secrets failed", "project", prod.Project, "version", prod.Version, "error", err)
	}
}

// uses reports whether a version gets one of the names of a class: nothing of its own sets it.
func (s *Service) uses(ctx context.Context, v svc.Version, class svc.SecretClass, names []string) (bool, error) {
	of, err := s.class(ctx, v)
	if err != nil || of != class {
		return false, err
	}
	e, err := s.deps.Registry.Environment(ctx, v.Ref)
	if err != nil {
		return false, err
	}
	filling := map[string]string{}
	for _, name := range names {
		filling[name] = ""
	}
	return len(svc.FillingSecrets(filling, func(name string) bool {
		_, bundled := e.Bundle[name]
		_, overridden := e.Overrides[name]
		return bundled || overridden
	})) > 0, nil
}

// spread restarts the other versions that use a changed name. Those that are being deployed or woken are
// restarted in the background, when they are ready.
func (s *Service) spread(ctx context.Context, prod svc.Ref, class svc.SecretClass, changed []string, done *svc.SecretsChanged) error {
	serving, err := s.deps.Registry.VersionsByStatus(ctx, svc.StatusReady, svc.StatusDraining)
	if err != nil {
		return err
	}
	starting, err := s.deps.Registry.VersionsByStatus(ctx, svc.StatusPreparing, svc.StatusDeploying, svc.StatusDeployReady)
	if err != nil {
		return err
	}
	for _, v := range starting {
		if v.Project == prod.Project {
			s.refreshLater(ctx, v.Ref)
		}
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	slots := make(chan struct{}, restarts)
	for _, v := range serving {
		uses, err := s.uses(ctx, v, class, changed)
		if v.Project != prod.Project || v.Ref == prod || err == nil && !uses {
			continue
		}
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			restarted, err := s.deps.Runtimes().RefreshSecrets(ctx, v.Ref)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				known := svc.AsError(err)
				done.Failed = append(done.Failed, svc.SecretNotTaken{Version: v.Version, Reason: known.Code + ": " + known.Detail})
			case restarted:
				done.Restarted = append(done.Restarted, v.Version)
			}
		})
	}
	all.Wait()
	return nil
}

func (s *Service) refreshLater(ctx context.Context, ref svc.Ref) {
	_ = s.work.Go(ctx, func(own context.Context) { // the daemon stops otherwise
		if _, err := s.deps.Runtimes().RefreshSecrets(own, ref); err != nil {
			s.deps.Logger.WarnContext(own, "restarting a version with changed secrets failed; its next start has them", "project", ref.Project, "version", ref.Version, "error", err)
		}
	})
}
