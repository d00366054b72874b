package project

import (
	"encoding/json"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

// settings reads the settings of releases in the section svcctl, and over them those of the project's
// own file when a build tool generated another one.
func (l *layers) settings(f *File) {
	s := settings{r: l.r}
	s.section(l.get("svcctl"), l.path("svcctl"))
	if l.flags.own != nil {
		own := settings{r: &reader{file: l.flags.shownOwn}, out: s.out}
		own.section(l.flags.own.get("svcctl"), "svcctl")
		l.r.fields, s.out = append(l.r.fields, own.r.fields...), own.out
	}
	if s.out != (bundle.Release{}) {
		f.Release = &s.out
	}
}

// settings is what one file says.
type settings struct {
	r   *reader
	out bundle.Release
}

// section reads the section svcctl, whose own keys allowSection has checked.
func (s *settings) section(n *node, at string) {
	if n == nil || n.kind != kindObject {
		return
	}
	if promote := s.part(n, at, "promote", "guard"); promote != nil {
		s.guard(promote.get("guard"), at+".promote.guard")
	}
	if release := s.part(n, at, "release", "check"); release != nil {
		s.check(release.get("check"), at+".release.check")
	}
	if assets := s.part(n, at, "assets", "keep"); assets != nil {
		s.keep(assets.get("keep"), at+".assets.keep")
	}
	s.history(n.get("history"), at+".history")
}

// part returns one section of svcctl, which has a single key; nil if it is absent or invalid.
func (s *settings) part(n *node, at, name, key string) *node {
	part, at := n.get(name), at+"."+name
	if !s.r.is(part, at, kindObject) {
		return nil
	}
	s.r.only(part, at, key)
	return part
}

func (s *settings) guard(n *node, at string) {
	if !s.r.is(n, at, kindString) {
		return
	}
	if s.out.Guard = n.text; n.text != bundle.GuardRefuse {
		s.r.problem(svc.CodeConfigInvalid, at, n.pos, "%s is %q; it can be %q, or be left out", at, n.text, bundle.GuardRefuse)
	}
}

func (s *settings) check(n *node, at string) {
	if !s.r.is(n, at, kindString) {
		return
	}
	s.out.Check = n.text
	if err := svc.CheckReleasePath(n.text); err != nil {
		s.r.problem(svc.CodeConfigInvalid, at, n.pos, "%s is %q: %s", at, n.text, err)
	}
}

func (s *settings) keep(n *node, at string) {
	if !s.r.is(n, at, kindNumber) {
		return
	}
	s.out.AssetsKeep = new(int)
	if json.Unmarshal(n.raw, s.out.AssetsKeep) != nil || *s.out.AssetsKeep < 0 || *s.out.AssetsKeep > bundle.MaxAssetsKeep {
		s.r.problem(svc.CodeConfigInvalid, at, n.pos, "%s is %s and must be a whole number from 0 to %d", at, n.raw, bundle.MaxAssetsKeep)
	}
}
