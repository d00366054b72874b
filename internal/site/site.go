package site

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
)

// navigationDate is the compatibility date from which not_found_handling answers the
// navigations of browsers before the worker; the flags change it for one worker.
const (
	navigationDate = "2025-04-01"
	navigationOn   = "assets_navigation_prefers_asset_serving"
	navigationOff  = "assets_navigation_has_no_effect"
)

// Site is the assets of one version.
type Site struct {
	dir        string // of the unpacked bundle
	files      map[string]file
	html       string // bundle.HTML…
	notFound   string // bundle.NotFound…
	hasWorker  bool
	pages      bool // the files are those of a Pages project
	navigation bool // not_found_handling comes before the worker for navigations
	first      workerFirst
	redirects  redirects
	headers    []headerRule
	variants   variants
}

// file is one asset. Its path, decoded and with a slash in front, is the key in
// Site.files.
type file struct {
	hash string
	size int64
	kept string // path on disk of one of an earlier version; "" for one of the bundle
}

// New returns the site of a manifest whose bundle was unpacked into dir; nil for a
// manifest without assets. It reads the list of kept files there.
func New(m *bundle.Manifest, dir string) *Site {
	a := m.Assets
	if a == nil {
		return nil
	}
	s := &Site{
		dir: dir, files: make(map[string]file, len(a.Files)),
		html: a.HTMLHandling, notFound: a.NotFoundHandling,
		hasWorker: m.Main != "", pages: a.Pages, navigation: prefersNavigation(m),
		first: newWorkerFirst(a.RunWorkerFirst), redirects: newRedirects(a.Redirects), headers: newHeaderRules(a.Headers),
	}
	for _, f := range a.Files {
		s.files["/"+bundle.AssetName(f.Path)] = file{hash: f.SHA256, size: f.Size}
	}
	s.keep()
	s.variants.dir = filepath.Join(dir, variantsDir)
	return s
}

// prefersNavigation reports whether browsers' navigations get not_found_handling.
func prefersNavigation(m *bundle.Manifest) bool {
	date, err := time.Parse(time.DateOnly, m.CompatibilityDate)
	since, _ := time.Parse(time.DateOnly, navigationDate)
	on := err == nil && !date.Before(since)
	for _, flag := range m.CompatibilityFlags {
		switch flag {
		case navigationOn:
			return true
		case navigationOff:
			return false
		}
	}
	return on
}

// keep adds the files of earlier versions. The own file at a path wins. Without a list that can be
// read the site has its own files.
func (s *Site) keep() {
	kept, err := bundle.LoadKept(s.dir)
	if err != nil {
		return
	}
	for _, f := range kept.Files {
		name := "/" + bundle.AssetName(f.Path)
		if _, own := s.files[name]; !own {
			s.files[name] = file{f.SHA256, f.Size, bundle.KeptPath(s.dir, f.File)}
		}
	}
}

// path is where the asset of that name is on disk.
func (s *Site) path(name string, f file) string {
	if f.kept != "" {
		return f.kept
	}
	return filepath.Join(s.dir, filepath.FromSlash(bundle.AssetPath(strings.TrimPrefix(name, "/"))))
}

// Files is the number of files.
func (s *Site) Files() int { return len(s.files) }
