package project

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/lib/text"
	"github.com/svcctl/svcctl/internal/svc"
)

// reader collects what is found while one file is read.
type reader struct {
	file    string // as shown to people
	fields  []svc.FieldError
	notices []Notice
	passed  []string // keys passed over, for one notice
	taken   map[string]string
	words   []word // of a file that was translated
}

func (r *reader) at(p pos) string {
	return fmt.Sprintf("%s:%d:%d", cmp.Or(p.file, r.file), p.line, p.col)
}

func (r *reader) problem(code, path string, p pos, format string, args ...any) {
	r.fields = append(r.fields, svc.FieldError{
		Pointer: "/" + strings.ReplaceAll(r.said(path), ".", "/"), Code: code,
		Detail: r.at(p) + ": " + r.said(fmt.Sprintf(format, args...)),
	})
}

func (r *reader) warn(p pos, format string, args ...any) {
	r.notices = append(r.notices, Notice{Warning, r.at(p), r.said(fmt.Sprintf(format, args...))})
}

// pass notes a key that means nothing here.
func (r *reader) pass(path string) {
	if path = r.said(path); !slices.Contains(r.passed, path) {
		r.passed = append(r.passed, path)
	}
}

// err is all problems as one error, or nil. An unsupported feature decides the
// code, because the user cannot fix it by editing the file.
func (r *reader) err() error {
	if len(r.fields) == 0 {
		return nil
	}
	code := r.fields[0].Code
	if slices.ContainsFunc(r.fields, func(f svc.FieldError) bool { return f.Code == svc.CodeConfigUnsupported }) {
		code = svc.CodeConfigUnsupported
	}
	e := svc.Errorf(svc.Unprocessable, code, "%s", r.fields[0].Detail)
	if len(r.fields) > 1 {
		e.Detail = fmt.Sprintf("%s has %d problems", r.file, len(r.fields))
		e.Fields = r.fields
	}
	return e
}

// is reports a value of another type than wanted; n nil is a key that is absent.
func (r *reader) is(n *node, path string, want kind) bool {
	if n == nil {
		return false
	}
	if n.kind != want {
		r.problem(svc.CodeConfigInvalid, path, n.pos, "%s is %s and must be %s", path, n.kind, want)
		return false
	}
	return true
}

func (r *reader) text(n *node, path string) string {
	if !r.is(n, path, kindString) {
		return ""
	}
	return n.text
}

func (r *reader) flag(n *node, path string, otherwise bool) bool {
	if n == nil || !r.is(n, path, kindBool) {
		return otherwise
	}
	return n.yes
}

func (r *reader) texts(n *node, path string) []string {
	if !r.is(n, path, kindArray) {
		return nil
	}
	var list []string
	for i, item := range n.items {
		if at := fmt.Sprintf("%s[%d]", path, i); r.is(item, at, kindString) {
			list = append(list, item.text)
		}
	}
	return list
}

func (r *reader) textMap(n *node, path string) map[string]string {
	if !r.is(n, path, kindObject) {
		return nil
	}
	m := map[string]string{}
	for _, e := range n.members {
		if r.is(e.val, path+"."+e.key, kindString) {
			m[e.key] = e.val.text
		}
	}
	return m
}

// members warns of keys of n that are not known; those in passed are noted.
func (r *reader) members(n *node, path string, known, passed []string) {
	for _, m := range n.members {
		switch {
		case slices.Contains(known, m.key):
		case slices.Contains(passed, m.key):
			r.pass(path + "." + m.key)
		default:
			r.unknown(path+"."+m.key, m, slices.Values(slices.Concat(known, passed)))
		}
	}
}

// only reports keys of n other than those in known: no other program defines the section, so that a
// key that is not known is a mistake.
func (r *reader) only(n *node, path string, known ...string) {
	for _, m := range n.members {
		if slices.Contains(known, m.key) {
			continue
		}
		hint := "the keys are " + strings.Join(known, ", ")
		if meant := text.Nearest(m.key, slices.Values(known)); meant != "" {
			hint = fmt.Sprintf("did you mean %q?", meant)
		}
		r.problem(svc.CodeConfigInvalid, path+"."+m.key, m.pos, "%s.%s is not a key of %s; %s", path, m.key, path, hint)
	}
}

// unknown warns of a key, as wrangler does. It may be one of a newer wrangler.
func (r *reader) unknown(path string, m member, known iter.Seq[string]) {
	hint := ""
	if meant := text.Nearest(m.key, known); meant != "" {
		hint = fmt.Sprintf("; did you mean %q?", meant)
	}
	r.warn(m.pos, "unexpected field %q has no effect%s", path, hint)
}

// typo says which key of n was probably meant to be a required one that n lacks.
func typo(n *node, key string) string {
	for _, m := range n.members {
		if text.Nearest(m.key, slices.Values([]string{key})) != "" {
			return fmt.Sprintf("; did you mean %q by %q?", key, m.key)
		}
	}
	return ""
}

// bindResource is bind for the name of a binding, by the rules that a deploy has for it.
func (r *reader) bindResource(name, path string, p pos) {
	if why := bundle.BadBindingName(name); why != "" {
		r.problem(svc.CodeConfigInvalid, path, p, "%s has a binding with the name %q, which %s", path, name, why)
		return
	}
	r.bind(name, path, p)
}

// bind makes sure that a name of the worker's env is used once.
func (r *reader) bind(name, path string, p pos) {
	if first, twice := r.taken[name]; twice {
		r.problem(svc.CodeConfigInvalid, path, p, "%q is bound by %s as well", name, first)
		return
	}
	r.taken[name] = path
}
