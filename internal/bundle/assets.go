package bundle

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// Assets are the static files of a version, stored at assets/<path>, and the rules by
// which they are served. docs/guide/assets.md describes the rules.
type Assets struct {
	// Detached: the files are not in the bundle but in the object store, by their hashes.
	Detached         bool         `json:"detached,omitempty"`
	Binding          string       `json:"binding,omitempty"`            // the name in env; "" for none
	HTMLHandling     string       `json:"html_handling,omitempty"`      // "" is HTMLAutoTrailingSlash
	NotFoundHandling string       `json:"not_found_handling,omitempty"` // "" is NotFoundNone
	RunWorkerFirst   WorkerFirst  `json:"run_worker_first,omitzero"`
	Redirects        []Redirect   `json:"redirects,omitempty"` // in the order they are tried
	Headers          []HeaderRule `json:"headers,omitempty"`   // in the order they are applied
	// Pages: the files are those of a Pages project. They have its default headers, redirects are
	// permanent, and an odd spelling of a path is not redirected.
	Pages bool   `json:"pages,omitempty"`
	Files []File `json:"files"`
}

// The values of Assets.HTMLHandling.
const (
	HTMLAutoTrailingSlash  = "auto-trailing-slash"
	HTMLForceTrailingSlash = "force-trailing-slash"
	HTMLDropTrailingSlash  = "drop-trailing-slash"
	HTMLNone               = "none"
)

// The values of Assets.NotFoundHandling.
const (
	NotFoundNone = "none"
	NotFound404  = "404-page"
	NotFoundSPA  = "single-page-application"
)

// WorkerFirst says which requests reach the worker before the assets: all of them, or
// those whose path matches a pattern. A pattern begins with "/", or with "!/" for paths
// that never reach the worker first; "*" is any text. In JSON it is a boolean or a list.
type WorkerFirst struct {
	All      bool
	Patterns []string
}

// IsZero reports whether the assets come first for every path.
func (w WorkerFirst) IsZero() bool { return !w.All && len(w.Patterns) == 0 }

// MarshalJSON implements json.Marshaler.
func (w WorkerFirst) MarshalJSON() ([]byte, error) {
	if len(w.Patterns) > 0 {
		return json.Marshal(w.Patterns)
	}
	return json.Marshal(w.All)
}

// UnmarshalJSON implements json.Unmarshaler.
func (w *WorkerFirst) UnmarshalJSON(data []byte) error {
	*w = WorkerFirst{}
	if json.Unmarshal(data, &w.All) == nil || json.Unmarshal(data, &w.Patterns) == nil {
		return nil
	}
	return errors.New("run_worker_first must be true, false or a list of patterns")
}

// Redirect sends the requests of one path, or of the paths of a pattern, elsewhere.
type Redirect struct {
	From   string `json:"from"`   // a path; "*" is any text, ":name" a part between slashes
	To     string `json:"to"`     // a path or URL; :splat and :name stand for what From matched
	Status int    `json:"status"` // 301, 302, 303, 307, 308, or 200 to serve To in place
}

// HeaderRule changes the headers of the answers to the paths of a pattern.
type HeaderRule struct {
	Path  string   `json:"path"` // as Redirect.From, or such a path behind https://host
	Set   []Header `json:"set,omitempty"`
	Unset []string `json:"unset,omitempty"`
}

// Header is one header of a HeaderRule.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// RedirectStatuses are the values of Redirect.Status.
func RedirectStatuses() []int { return []int{200, 301, 302, 303, 307, 308} }

// AssetPath is where the asset with this path below the assets' directory is stored.
func AssetPath(name string) string { return assetsDir + name }

// AssetName is the inverse of AssetPath.
func AssetName(path string) string { return strings.TrimPrefix(path, assetsDir) }

// hasWorker reports whether the manifest has code to run.
func (m Manifest) hasWorker() bool { return m.Main != "" || len(m.Modules) > 0 || m.Assets == nil }

func (p *problems) assets(m Manifest) {
	a := m.Assets
	if a == nil {
		return
	}
	html := []string{"", HTMLAutoTrailingSlash, HTMLForceTrailingSlash, HTMLDropTrailingSlash, HTMLNone}
	if !slices.Contains(html, a.HTMLHandling) {
		p.add("/assets/html_handling", svc.CodeManifestInvalid, "unknown mode %q; the modes are %s", a.HTMLHandling, strings.Join(html[1:], ", "))
	}
	missing := []string{"", NotFoundNone, NotFound404, NotFoundSPA}
	if !slices.Contains(missing, a.NotFoundHandling) {
		p.add("/assets/not_found_handling", svc.CodeManifestInvalid, "unknown mode %q; the modes are %s", a.NotFoundHandling, strings.Join(missing[1:], ", "))
	}
	p.assetBinding(m)
	p.assetRules(a)
	for i, f := range a.Files {
		p.file("/assets/files/"+strconv.Itoa(i), f, assetsDir)
	}
}

func (p *problems) assetBinding(m Manifest) {
	name := m.Assets.Binding
	taken := slices.ContainsFunc(m.Bindings, func(b Binding) bool { return b.Name == name })
	_, isVar := m.Vars[name]
	switch {
	case name == "":
	case BadBindingName(name) != "":
		p.add("/assets/binding", svc.CodeManifestInvalid, "the binding name %q %s", name, BadBindingName(name))
	case taken || isVar:
		p.add("/assets/binding", svc.CodeManifestInvalid, "%q is also the name of a variable or of another binding", name)
	case !m.hasWorker():
		p.add("/assets/binding", svc.CodeManifestInvalid, "there is no worker to bind the assets to as %q", name)
	}
	if !m.hasWorker() && !m.Assets.RunWorkerFirst.IsZero() {
		p.add("/assets/run_worker_first", svc.CodeManifestInvalid, "there is no worker to run first")
	}
}

// assetRules checks the form of patterns. What a pattern matches is up to the server.
func (p *problems) assetRules(a *Assets) {
	for i, pattern := range a.RunWorkerFirst.Patterns {
		if rest := strings.TrimPrefix(pattern, "!"); !strings.HasPrefix(rest, "/") || badLine(rest) {
			p.add("/assets/run_worker_first/"+strconv.Itoa(i), svc.CodeManifestInvalid, "the pattern %q begins neither with / nor with !/", pattern)
		}
	}
	for i, r := range a.Redirects {
		at := "/assets/redirects/" + strconv.Itoa(i)
		if !strings.HasPrefix(r.From, "/") || badLine(r.From) || strings.Count(r.From, "*") > 1 {
			p.add(at+"/from", svc.CodeManifestInvalid, "%q is not a path that begins with / and has at most one *", r.From)
		}
		if r.To == "" || badLine(r.To) || r.Status == 200 && !strings.HasPrefix(r.To, "/") {
			p.add(at+"/to", svc.CodeManifestInvalid, "%q is not a target for status %d", r.To, r.Status)
		}
		if !slices.Contains(RedirectStatuses(), r.Status) {
			p.add(at+"/status", svc.CodeManifestInvalid, "%d is none of %v", r.Status, RedirectStatuses())
		}
	}
	for i, h := range a.Headers {
		p.headerRule("/assets/headers/"+strconv.Itoa(i), h)
	}
}

func (p *problems) headerRule(at string, h HeaderRule) {
	if !strings.HasPrefix(h.Path, "/") && !strings.HasPrefix(h.Path, "https://") || badLine(h.Path) || strings.Count(h.Path, "*") > 1 {
		p.add(at+"/path", svc.CodeManifestInvalid, "%q is not a path or https URL with at most one *", h.Path)
	}
	names := slices.Clone(h.Unset)
	for _, s := range h.Set {
		names = append(names, s.Name)
		if badLine(s.Value) {
			p.add(at+"/set", svc.CodeManifestInvalid, "the value of %q is longer than %d bytes or has control characters", s.Name, maxRuleBytes)
		}
	}
	for _, name := range names {
		if !headerPattern().MatchString(name) {
			p.add(at, svc.CodeManifestInvalid, "%q is not the name of a header", name)
		}
	}
}
