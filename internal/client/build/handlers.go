package build

import (
	"slices"

	"github.com/svcctl/svcctl/internal/client/esbuild"
)

// WithoutFetch returns the handlers of a worker that has no fetch handler; ok is false for one that has
// it, and for one whose handlers are not known.
func (r *Result) WithoutFetch() (handlers []string, ok bool) {
	for _, m := range r.Modules {
		if m.Name == r.Manifest.Main {
			handlers, ok = esbuild.Handlers(m.Content)
		}
	}
	return handlers, ok && !slices.Contains(handlers, "fetch")
}
