package binding

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/svc"
)

// Set is the open bindings of one version. Its ServeHTTP dispatches on
// RouteHeader. Close it after workerd is gone and before its Volumes.
type Set struct {
	kinds     []Kind
	bindings  []declared
	vars      []string            // names, sorted
	secrets   []string            // names, sorted
	instances map[string]Instance // by Route
	order     []string            // routes, in the order they were opened
	starters  starters
	volumes   volume.Volumes
}

type declared struct {
	bundle.Binding

	kind    Kind
	outside bool // of the worker's env: from a Declarer
}

// OpenAll opens every binding of m. On error nothing stays open. It refuses a manifest
// with bindings that kinds cannot open: a kind that is not there, a name used twice, or a
// declaration its kind refuses. All that is wrong is reported together.
func OpenAll(ctx context.Context, kinds []Kind, m *bundle.Manifest, v volume.Volumes) (*Set, error) {
	bindings, err := declare(kinds, m)
	if err != nil {
		return nil, err
	}
	s := &Set{kinds: kinds, bindings: bindings, vars: slices.Sorted(maps.Keys(m.Vars)), instances: map[string]Instance{}, volumes: v}
	for _, b := range bindings {
		if err := s.open(ctx, b, v); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// SetSecrets says by which names the worker has secrets. Call it before the first request.
func (s *Set) SetSecrets(names []string) { s.secrets = names }

func declare(kinds []Kind, m *bundle.Manifest) ([]declared, error) {
	byName := make(map[string]Kind, len(kinds))
	for _, k := range kinds {
		byName[k.Name()] = k
	}
	var bad []svc.FieldError
	refuse := func(i int, code, format string, args ...any) {
		bad = append(bad, svc.FieldError{Pointer: fmt.Sprintf("/bindings/%d", i), Code: code, Detail: fmt.Sprintf(format, args...)})
	}
	seen := map[string]bool{}
	out := make([]declared, 0, len(m.Bindings))
	for i, d := range m.Bindings {
		k, known := byName[d.Kind]
		switch {
		case seen[d.Name]:
			refuse(i, svc.CodeBindingDuplicate, "two bindings have the name %q", d.Name)
		case d.Name == "":
			refuse(i, svc.CodeBindingInvalid, "a binding of kind %q has no name", d.Kind)
		case !known:
			refuse(i, svc.CodeBindingUnknownKind, "binding %q: kind %q is not one this program runs (it runs %s)", d.Name, d.Kind, names(kinds))
		default:
			if err := k.Check(d); err != nil {
				refuse(i, svc.CodeBindingInvalid, "binding %q: %v", d.Name, err)
			}
		}
		seen[d.Name] = true
		out = append(out, declared{d, k, false})
	}
	for _, k := range kinds {
		if more, ok := k.(Declarer); ok {
			for _, d := range more.Declare(m) {
				out = append(out, declared{d, k, true})
			}
		}
	}
	if len(bad) > 0 {
		return nil, &svc.Error{Kind: svc.Unprocessable, Code: svc.CodeInvalidBindings, Detail: "the bundle's bindings are refused", Fields: bad}
	}
	return out, nil
}

func names(kinds []Kind) string {
	list := make([]string, len(kinds))
	for i, k := range kinds {
		list[i] = k.Name()
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

func (s *Set) open(ctx context.Context, b declared, v volume.Volumes) error {
	route := Route(b.Binding)
	if _, open := s.instances[route]; open {
		return nil
	}
	in, err := b.kind.Open(ctx, b.Binding, v)
	if err != nil {
		return fmt.Errorf("opening binding %q (%s): %w", b.Name, route, err)
	}
	if in == nil {
		return nil
	}
	s.instances[route] = in
	s.order = append(s.order, route)
	if st, ok := in.(Starter); ok {
		s.starters.all = append(s.starters.all, &runner{Starter: st, route: route})
	}
	return nil
}

// ServeHTTP passes r to the Instance its RouteHeader names.
func (s *Set) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	route := r.Header.Get(RouteHeader)
	if in := s.instances[route]; in != nil {
		in.ServeHTTP(w, r)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body) // workerd loses the connection otherwise
	http.Error(w, fmt.Sprintf("no binding %q is open here", route), http.StatusNotFound)
}

// Migrate applies the migrations of m, whose files are at
// migrations/<binding>/<name> of files, and says what it applied, as
// "<binding>/<name>". It is idempotent.
func (s *Set) Migrate(ctx context.Context, m *bundle.Manifest, files fs.FS) (applied []string, err error) {
	for _, mg := range m.Migrations {
		mig, err := instanceFor[Migrator](s, mg.Binding, "migrations", svc.CodeMigrationsInvalid)
		if err != nil {
			return applied, err
		}
		done, err := mig.Migrate(ctx, mg, files)
		for _, name := range done {
			applied = append(applied, mg.Binding+"/"+name)
		}
		if err != nil {
			return applied, err
		}
	}
	return applied, nil
}

// instanceFor is the Instance of the binding that a manifest gives files for, which must
// take them; else the error has the code.
func instanceFor[T any](s *Set, name, files, code string) (in T, err error) {
	i := slices.IndexFunc(s.bindings, func(b declared) bool { return b.Name == name && !b.outside })
	if i < 0 {
		return in, svc.Errorf(svc.Unprocessable, code, "%s are given for binding %q, which the bundle does not declare", files, name)
	}
	b := s.bindings[i]
	in, ok := s.instances[Route(b.Binding)].(T)
	if !ok {
		return in, svc.Errorf(svc.Unprocessable, code, "%s are given for binding %q, whose kind %q takes none", files, name, b.Kind)
	}
	return in, nil
}

// Warnings lists what a version warns about.
func (s *Set) Warnings() (list []string) {
	for _, b := range s.bindings {
		if w, ok := b.kind.(Warner); ok {
			if text := w.Warning(b.Binding); text != "" {
				list = append(list, text)
			}
		}
	}
	return list
}

// Wire is the config for workerd, one Wiring for each binding, in the order of
// the manifest.
func (s *Set) Wire(site Site) []Wiring {
	out := make([]Wiring, 0, len(s.bindings))
	for _, b := range s.bindings {
		if !b.outside {
			out = append(out, b.kind.Wire(b.Binding, site))
		}
	}
	return out
}

// Plan is what Wire of the Set will return for the bindings of m, before they are open.
// calls reports whether one of them may call the worker.
func Plan(kinds []Kind, m *bundle.Manifest, site Site) (wirings []Wiring, calls bool, err error) {
	bindings, err := declare(kinds, m)
	if err != nil {
		return nil, false, err
	}
	wirings = (&Set{bindings: bindings}).Wire(site)
	calls = len(Events(wirings)) > 0 || slices.ContainsFunc(bindings, func(b declared) bool { return b.outside })
	return wirings, calls, nil
}

// Close stops the Starters, whose events are canceled, and closes the instances,
// last opened first. Closing twice is harmless.
func (s *Set) Close() error {
	now := make(chan struct{})
	close(now)
	s.starters.end(now)
	var errs []error
	for _, route := range slices.Backward(s.order) {
		if err := s.instances[route].Close(); err != nil {
			errs = append(errs, fmt.Errorf("closing %s: %w", route, err))
		}
	}
	s.order = nil
	return errors.Join(errs...)
}
