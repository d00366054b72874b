package bindingtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/workerd"
)

// Suite is what Run needs to know about a kind.
type Suite struct {
	// Classes is JavaScript that exports the classes that declarations name; "" for none.
	Classes string
	// Good is a declaration named "B", and Other one of other data.
	Good, Other bundle.Binding
	// Bad are declarations that Check refuses, by what is wrong with them.
	Bad map[string]bundle.Binding
	// Write and Read are JavaScript: the bodies of async functions of (B, name,
	// value) that store a string under a name, and of (B, name) that give it, or
	// null. A kind without data leaves both empty.
	Write, Read string
	// Refused are bodies of async functions of (B) that must throw, with a part
	// of the words that a worker sees.
	Refused map[string]string
	// Shape is the body of an async function of (B) that throws unless the
	// binding looks to a worker as it should.
	Shape string
}

// Run is what every kind must pass: its declarations, and its binding in the
// real workerd, where data must last, be apart from other data, bear many
// concurrent requests, and have limits.
func Run(t *testing.T, kind binding.Kind, s Suite) {
	t.Helper()
	t.Run("declarations", func(t *testing.T) { t.Parallel(); declarations(t, kind, s) })
	t.Run("shape", func(t *testing.T) {
		t.Parallel()
		must(t, s.start(t, kind, t.TempDir()), op{Do: "shape"}, "null")
	})
	t.Run("resources", func(t *testing.T) { t.Parallel(); resources(t, kind, s) })
	t.Run("wiring", func(t *testing.T) { t.Parallel(); wiring(t, kind, s) })
	for name, words := range s.Refused {
		t.Run("refused", func(t *testing.T) { t.Parallel(); refused(t, kind, s, name, words) })
	}
	if s.Write == "" {
		return
	}
	t.Run("reopen", func(t *testing.T) { t.Parallel(); reopen(t, kind, s) })
	t.Run("apart", func(t *testing.T) { t.Parallel(); apart(t, kind, s) })
	t.Run("concurrent", func(t *testing.T) { t.Parallel(); concurrent(t, kind, s) })
}

func declarations(t *testing.T, kind binding.Kind, s Suite) {
	t.Helper()
	for _, d := range []bundle.Binding{s.Good, s.Other} {
		if err := kind.Check(d); err != nil {
			t.Errorf("%+v is refused: %v", d, err)
		}
		if d.Kind != kind.Name() {
			t.Errorf("%+v is not of kind %q", d, kind.Name())
		}
	}
	for what, d := range s.Bad {
		if err := kind.Check(d); err == nil || err.Error() == "" {
			t.Errorf("%s: %+v is not refused", what, d)
		}
	}
}

// resources checks that what Check accepts can be opened, whatever the resource is called:
// names of databases allow less than a manifest does.
func resources(t *testing.T, kind binding.Kind, s Suite) {
	t.Helper()
	volumes := OpenVolumes(t, t.TempDir())
	for _, name := range []string{"NOTES", "größe/a b.c:d", strings.Repeat("X", 128), strings.Repeat("/", 128)} {
		d := s.Good
		d.Resource = name
		if kind.Check(d) != nil {
			continue
		}
		in, err := kind.Open(t.Context(), d, volumes)
		if err != nil {
			t.Errorf("%.20q is accepted and cannot be opened: %v", name, err)
			continue
		}
		if in != nil {
			if err := in.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// wiring checks the config for workerd: the name, and services that lead to this
// binding and to no other.
func wiring(t *testing.T, kind binding.Kind, s Suite) {
	t.Helper()
	site := binding.Site{Address: "unix:/x"}
	good, other := kind.Wire(s.Good, site), kind.Wire(s.Other, site)
	if good.Binding.Name != s.Good.Name {
		t.Errorf("the binding is wired as %q, not %q", good.Binding.Name, s.Good.Name)
	}
	for _, a := range good.Services {
		if slices.ContainsFunc(other.Services, func(b workerd.Service) bool { return a.Name == b.Name && s.Good.Resource != s.Other.Resource }) {
			t.Errorf("two resources share the service %q", a.Name)
		}
	}
}

// worker is the module of the suite's worker.
func (s Suite) worker() string {
	var refused strings.Builder
	for name := range s.Refused {
		fmt.Fprintf(&refused, "%q: async (B) => { %s },\n", name, name)
	}
	return s.Classes + fmt.Sprintf(`
const write = async (B, name, value) => { %s };
const read = async (B, name) => { %s };
const shape = async (B) => { %s };
const refused = { %s };
export default { async fetch(req, env) {
  const op = await req.json();
  const B = env[op.on ?? "B"];
  try {
    switch (op.do) {
      case "write": await write(B, op.name, op.value); return Response.json(null);
      case "read": return Response.json(await read(B, op.name));
      case "shape": await shape(B); return Response.json(null);
      default: await refused[op.name](B); return Response.json("was not refused");
    }
  } catch (e) { return Response.json({ error: String(e) }); }
}};`, s.Write, s.Read, s.Shape, refused.String())
}

type op struct {
	Do    string `json:"do"`
	On    string `json:"on,omitempty"`
	Name  string `json:"name,omitempty"`
	Value string `json:"value,omitempty"`
}

func (o op) on(t testing.TB, w *Worker) string {
	t.Helper()
	body, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return w.Post(t, "/", string(body))
}

func must(t *testing.T, w *Worker, o op, want string) {
	t.Helper()
	if got := o.on(t, w); got != want {
		t.Errorf("%+v: got %s, want %s", o, got, want)
	}
}

func (s Suite) start(t *testing.T, kind binding.Kind, dir string) *Worker {
	t.Helper()
	return Start(t, OpenSet(t, OpenVolumes(t, dir), []binding.Kind{kind}, s.Good), s.worker())
}

func refused(t *testing.T, kind binding.Kind, s Suite, name, words string) {
	t.Helper()
	w := s.start(t, kind, t.TempDir())
	if got := (op{Do: "refused", Name: name}).on(t, w); !strings.Contains(got, `"error"`) || !strings.Contains(got, words) {
		t.Errorf("%s: got %.300s, want an error with %q", name, got, words)
	}
	must(t, w, op{Do: "shape"}, "null") // and all is well after it
}

// reopen checks that data outlives everything that serves it.
func reopen(t *testing.T, kind binding.Kind, s Suite) {
	t.Helper()
	dir := t.TempDir()
	t.Run("first", func(t *testing.T) { // the first life ends before the second begins
		w := s.start(t, kind, dir)
		must(t, w, op{Do: "read", Name: "a"}, "null")
		must(t, w, op{Do: "write", Name: "a", Value: "kept"}, "null")
	})
	t.Run("second", func(t *testing.T) {
		must(t, s.start(t, kind, dir), op{Do: "read", Name: "a"}, `"kept"`)
	})
}

// apart checks that one name is one thing: two bindings of a resource share
// data, and other resources do not see it.
func apart(t *testing.T, kind binding.Kind, s Suite) {
	t.Helper()
	twin, other := s.Good, s.Other
	twin.Name, other.Name = "TWIN", "OTHER"
	set := OpenSet(t, OpenVolumes(t, t.TempDir()), []binding.Kind{kind}, s.Good, twin, other)
	w := Start(t, set, s.worker())
	must(t, w, op{Do: "write", Name: "a", Value: "1"}, "null")
	must(t, w, op{Do: "write", On: "OTHER", Name: "a", Value: "2"}, "null")
	must(t, w, op{Do: "read", Name: "a"}, `"1"`)
	must(t, w, op{Do: "read", On: "TWIN", Name: "a"}, `"1"`)
	must(t, w, op{Do: "read", On: "OTHER", Name: "a"}, `"2"`)
}

// concurrent checks that concurrent requests all see what was written before.
func concurrent(t *testing.T, kind binding.Kind, s Suite) {
	t.Helper()
	w := s.start(t, kind, t.TempDir())
	must(t, w, op{Do: "write", Name: "a", Value: "1"}, "null") // also makes a table, where Write does
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for j := range 10 {
				name, value := fmt.Sprintf("n%d", i), fmt.Sprintf("v%d", j)
				must(t, w, op{Do: "write", Name: name, Value: value}, "null")
				must(t, w, op{Do: "read", Name: name}, `"`+value+`"`)
			}
		})
	}
	all.Wait()
}
