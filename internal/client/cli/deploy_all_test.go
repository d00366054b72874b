package cli

import (
	"slices"
	"testing"

	"github.com/svcctl/svcctl/internal/client/project"
)

// TestCalledFirst: workers that others call come first, also where some call each other.
func TestCalledFirst(t *testing.T) {
	t.Parallel()
	worker := func(name string, calls ...string) configured {
		f := &project.File{Name: name, Services: []project.Service{{Name: name, Self: true}}}
		for _, c := range calls {
			f.Services = append(f.Services, project.Service{Name: c})
		}
		return configured{file: f}
	}
	order := calledFirst([]configured{worker("web", "api", "elsewhere"), worker("api", "users", "mail"), worker("mail", "api"), worker("users")})
	var names []string
	for _, w := range order {
		names = append(names, w.file.Name)
	}
	if want := []string{"users", "mail", "api", "web"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
}
