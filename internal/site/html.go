package site

import (
	"strings"

	"github.com/svcctl/svcctl/internal/bundle"
)

// target is what a path leads to: a file with its status, or another path.
type target struct {
	name     string // of the file; "" for none
	file     file
	status   int
	redirect string // a decoded path; "" for none
}

func (t target) found() bool { return t.name != "" || t.redirect != "" }

// move is a redirect that a path may lead to: to the place where file is served.
type move struct{ file, to string }

// resolve finds what a decoded path leads to. notFound is what holds for a path without
// a file.
func (s *Site) resolve(p, notFound string) target {
	if s.html == bundle.HTMLNone {
		if t := s.at(p); t.found() {
			return t
		}
		return s.missing(p, notFound)
	}
	if t := s.exact(p); t.found() {
		return t
	}
	before, after := s.moves(p)
	for _, m := range before {
		if s.moved(m) {
			return target{redirect: m.to}
		}
	}
	if t := s.served(p); t.found() {
		return t
	}
	for _, m := range after {
		if s.moved(m) {
			return target{redirect: m.to}
		}
	}
	return s.missing(p, notFound)
}

// exact finds a file that no mode moves: anything that is neither HTML nor an index.
func (s *Site) exact(p string) target {
	if strings.HasSuffix(p, ".html") {
		return target{}
	}
	return s.at(p)
}

// at finds the file with exactly this path.
func (s *Site) at(p string) target {
	f, ok := s.files[p]
	if !ok {
		return target{}
	}
	return target{name: p, file: f, status: 200}
}

// served finds the file that the mode serves at p without a redirect.
func (s *Site) served(p string) target {
	dir, isDir := strings.CutSuffix(p, "/")
	names := []string{p, p + ".html"}
	switch s.html {
	case bundle.HTMLForceTrailingSlash:
		names = names[:1]
		if isDir {
			names = []string{p + "index.html", dir + ".html"}
		}
	case bundle.HTMLDropTrailingSlash:
		names = append(names, p+"/index.html")
		if isDir {
			names = nil
			if p == "/" {
				names = []string{"/index.html"}
			}
		}
	default:
		if isDir {
			names = []string{p + "index.html"}
		}
	}
	for _, name := range names {
		if t := s.at(name); t.found() {
			return t
		}
	}
	return target{}
}

// moves lists where the mode moves p: what is tried before the file that is served at p,
// and what is tried after it.
func (s *Site) moves(p string) (before, after []move) {
	switch s.html {
	case bundle.HTMLForceTrailingSlash:
		return forceMoves(p)
	case bundle.HTMLDropTrailingSlash:
		return dropMoves(p)
	}
	return autoMoves(p)
}

func autoMoves(p string) (before, after []move) {
	after = []move{{p + "/index.html", p + "/"}}
	if dir, ok := strings.CutSuffix(p, "/index"); ok {
		return []move{{p + ".html", dir + "/"}, {dir + ".html", dir}}, after
	}
	if dir, ok := strings.CutSuffix(p, "/index.html"); ok {
		return []move{{p, dir + "/"}, {dir + ".html", dir}}, after
	}
	if dir, ok := strings.CutSuffix(p, "/"); ok {
		return nil, append([]move{{dir + ".html", dir}}, after...)
	}
	if name, ok := strings.CutSuffix(p, ".html"); ok {
		return []move{{p, name}, {name + "/index.html", name + "/"}}, after
	}
	return nil, after
}

func forceMoves(p string) (before, after []move) {
	after = []move{{p + ".html", p + "/"}, {p + "/index.html", p + "/"}}
	if dir, ok := strings.CutSuffix(p, "/index"); ok {
		return []move{{p + ".html", dir + "/"}, {dir + ".html", dir + "/"}}, after
	}
	if dir, ok := strings.CutSuffix(p, "/index.html"); ok {
		return []move{{p, dir + "/"}, {dir + ".html", dir + "/"}}, after
	}
	if name, ok := strings.CutSuffix(p, ".html"); ok {
		// A file that its folder's index hides stays at its own path.
		return []move{{p, name + "/"}}, append([]move{{name + "/index.html", name + "/"}}, after...)
	}
	return nil, after
}

func dropMoves(p string) (before, after []move) {
	if p == "/index" || p == "/index.html" {
		return []move{{"/index.html", "/"}}, nil
	}
	if dir, ok := strings.CutSuffix(p, "/index"); ok {
		return []move{{dir + ".html", dir}, {p + ".html", dir}}, nil
	}
	if dir, ok := strings.CutSuffix(p, "/index.html"); ok {
		// A folder's index that a file hides stays at its own path.
		return []move{{p, dir}}, []move{{dir + ".html", dir}}
	}
	if dir, ok := strings.CutSuffix(p, "/"); ok && dir != "" {
		return []move{{dir + ".html", dir}, {dir + "/index.html", dir}}, nil
	}
	if name, ok := strings.CutSuffix(p, ".html"); ok {
		return []move{{p, name}, {name + "/index.html", name}}, nil
	}
	return nil, nil
}

// moved reports whether m leads to its file: no other file hides it there.
func (s *Site) moved(m move) bool {
	f, ok := s.files[m.file]
	if !ok {
		return false
	}
	if _, hidden := s.files[m.to]; hidden {
		return false
	}
	t := s.served(m.to)
	return t.found() && t.file.hash == f.hash
}

// missing is what a path without a file leads to.
func (s *Site) missing(p, notFound string) target {
	switch notFound {
	case bundle.NotFoundSPA:
		return s.at("/index.html")
	case bundle.NotFound404:
		for p != "" {
			p = p[:strings.LastIndexByte(p, '/')]
			if t := s.at(p + "/404.html"); t.found() {
				t.status = 404
				return t
			}
		}
	}
	return target{}
}
