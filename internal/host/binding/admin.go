package binding

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/svc"
)

// Admin is a Kind whose data people can look at and change through the API
// [D33][D35].
type Admin interface {
	// Admin gives the operations by their patterns, "GET /kv/{namespace}/keys", as
	// http.ServeMux has them; paths are below the version's. open are the
	// kind's bindings, in the order of the manifest.
	Admin(open []Opened) map[string]Operation
}

// Operation answers r, or returns an error before it has written anything.
type Operation func(w http.ResponseWriter, r *http.Request) error

// Opened is one declaration and the Instance behind it. Name is "" for one of a Declarer
// that has none.
type Opened struct {
	Name, Resource string
	Instance       Instance
}

// Measured is an Instance that can tell how much it holds. The numbers are
// named as they appear in the API: "keys", "size_bytes" [D32].
type Measured interface {
	Stats(ctx context.Context) (map[string]int64, error)
}

// Tallied is an Instance whose things have states, such as the instances of a workflow.
type Tallied interface {
	// Tally counts them by state. It does not block, so it may be some seconds old.
	Tally() map[string]int64
}

// Tallies are those of all resources, by kind, resource and state.
func (s *Set) Tallies() (list []svc.Tally) {
	for _, route := range s.order {
		t, ok := s.instances[route].(Tallied)
		if !ok {
			continue
		}
		kind, resource, _ := strings.Cut(route, "/")
		counts := t.Tally()
		for _, state := range slices.Sorted(maps.Keys(counts)) {
			list = append(list, svc.Tally{Kind: kind, Resource: resource, State: state, Count: counts[state]})
		}
	}
	return list
}

// Stored is an Instance whose data is in a database of the version.
type Stored interface {
	History() volume.History
}

// Pick finds the binding of that name. noun names the kind for people. A name
// of "" is enough when there is no choice [D33].
func Pick(open []Opened, name, noun string) (Opened, error) {
	names := make([]string, len(open))
	for i, o := range open {
		if o.Name == name {
			return o, nil
		}
		names[i] = o.Name
	}
	switch {
	case name == "" && len(open) == 1:
		return open[0], nil
	case len(open) == 0:
		return Opened{}, svc.Errorf(svc.NotFound, svc.CodeBindingNotFound, "this version has no %s", noun)
	case name == "":
		return Opened{}, svc.Errorf(svc.BadRequest, svc.CodeBindingRequired, "this version has several bindings of this kind").
			WithHint("name one: %s", strings.Join(names, ", "))
	}
	return Opened{}, svc.Errorf(svc.NotFound, svc.CodeBindingNotFound, "%s is no %s of this version", name, noun).
		WithHint("it has %s", strings.Join(names, ", "))
}

// Data serves the data of all bindings to the API. Errors go to fail.
func (s *Set) Data(fail func(w http.ResponseWriter, r *http.Request, err error)) http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, do Operation) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := do(w, r); err != nil {
				_, _ = io.Copy(io.Discard, r.Body) // who still sends it would not hear the answer
				fail(w, r, err)
			}
		})
	}
	handle("/", func(http.ResponseWriter, *http.Request) error {
		return svc.Errorf(svc.NotFound, svc.CodePathNotFound, "the bindings of this version have nothing at this path")
	})
	handle(bindingsPattern, s.list)
	for _, k := range s.kinds {
		if admin, ok := k.(Admin); ok {
			for pattern, do := range admin.Admin(s.opened(k)) {
				handle(pattern, do)
			}
		}
	}
	return mux
}

// Patterns are the operations of a set of kinds, sorted: those that Data answers,
// whichever bindings a version has.
func Patterns(kinds []Kind) []string {
	list := []string{bindingsPattern}
	for _, k := range kinds {
		if admin, ok := k.(Admin); ok {
			list = slices.AppendSeq(list, maps.Keys(admin.Admin(nil)))
		}
	}
	slices.Sort(list)
	return list
}

// bindingsPattern lists the bindings of all kinds.
const bindingsPattern = "GET /bindings"

// opened are the bindings of k.
func (s *Set) opened(k Kind) (open []Opened) {
	for _, b := range s.bindings {
		if b.kind.Name() == k.Name() {
			open = append(open, Opened{b.Name, b.Resource, s.instances[Route(b.Binding)]})
		}
	}
	return open
}

// listedBinding is one row of GET /bindings [D32].
type listedBinding struct {
	Name            string           `json:"name"`
	Kind            string           `json:"kind"`
	Resource        string           `json:"resource"`
	Branched        bool             `json:"branched"`
	ParentVersionID *string          `json:"parent_version_id"`
	ForkTXID        string           `json:"fork_txid"`
	Stats           map[string]int64 `json:"stats"`
}

// branch says where the data began.
func (l *listedBinding) branch(h volume.History) {
	if h.Parent != "" {
		l.Branched, l.ParentVersionID, l.ForkTXID = true, &h.Parent, h.ForkTXID()
	}
}

func (s *Set) list(w http.ResponseWriter, r *http.Request) error {
	items := make([]listedBinding, 0, len(s.bindings)+len(s.vars))
	for _, b := range s.bindings {
		if b.Name == "" {
			continue
		}
		item := listedBinding{Name: b.Name, Kind: b.Kind, Resource: b.Resource, Stats: map[string]int64{}}
		if m, ok := s.instances[Route(b.Binding)].(Measured); ok {
			stats, err := m.Stats(r.Context())
			if err != nil {
				return fmt.Errorf("measuring binding %q: %w", b.Name, err)
			}
			item.Stats = stats
		}
		if in, ok := s.instances[Route(b.Binding)].(Stored); ok {
			item.branch(in.History())
		}
		items = append(items, item)
	}
	for _, name := range s.vars {
		items = append(items, listedBinding{Name: name, Kind: "var", Stats: map[string]int64{}})
	}
	for _, name := range s.secrets {
		items = append(items, listedBinding{Name: name, Kind: "secret", Stats: map[string]int64{}})
	}
	return WriteItems(w, items)
}

// WriteJSON answers 200 with v.
func WriteJSON(w http.ResponseWriter, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encoding an answer: %w", err)
	}
	Reply(w, "application/json", body)
	return nil
}
