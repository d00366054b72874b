package site

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/bundle"
)

var (
	placeholder = regexp.MustCompile(`:[A-Za-z]\w*`)
	hostPart    = regexp.MustCompile(`^https://[^/]*`)
	originPart  = regexp.MustCompile(`^(https?:)?//[^/?#]*`)
	slashes     = regexp.MustCompile(`/+`)
)

// RulePath returns the path of a rule as the URL of a request has it: dot segments are
// resolved and bytes encoded. The host of a rule stays unchanged.
func RulePath(text string) string {
	host := hostPart.FindString(text)
	return host + normalize(text[len(host):])
}

// pattern is the path of a rule.
type pattern struct {
	text    string
	host    bool // the text begins with https:// and a host
	literal string
	re      *regexp.Regexp // nil for a text without parts that match others
}

// CheckPattern returns what is wrong with the path of a rule of _redirects or _headers.
func CheckPattern(text string) error {
	_, err := newPattern(text)
	return err
}

// newPattern compiles the path of a rule: "*" is any text, ":name" a part without a
// slash, in a host also without a dot.
func newPattern(text string) (pattern, error) {
	text = RulePath(text)
	p := pattern{text: text, host: strings.HasPrefix(text, "https://"), literal: text}
	first := strings.IndexByte(text, '*')
	host := hostPart.FindString(text)
	if at := placeholder.FindStringIndex(text[len(scheme(host)):]); at != nil && (first < 0 || at[0]+len(scheme(host)) < first) {
		first = at[0] + len(scheme(host))
	}
	if first < 0 {
		return p, nil
	}
	p.literal = text[:first]
	var err error
	p.re, err = regexp.Compile(`^` + scheme(host) + expression(host[len(scheme(host)):], `[^/.]+`) + expression(text[len(host):], `[^/]+`) + `$`)
	if err != nil {
		return p, fmt.Errorf("%s cannot be compiled: %w", text, err)
	}
	names := p.re.SubexpNames()[1:]
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return p, fmt.Errorf("%s names the placeholder %s twice", text, name)
		}
	}
	return p, nil
}

func scheme(host string) string { return host[:min(len(host), len("https://"))] }

// expression translates a part of a pattern.
func expression(text, part string) string {
	var b strings.Builder
	for i, piece := range strings.Split(text, "*") {
		if i > 0 {
			b.WriteString("(?P<splat>.*)")
		}
		rest := piece
		for at := placeholder.FindStringIndex(rest); at != nil; at = placeholder.FindStringIndex(rest) {
			b.WriteString(regexp.QuoteMeta(rest[:at[0]]) + "(?P<" + rest[at[0]+1:at[1]] + ">" + part + ")")
			rest = rest[at[1]:]
		}
		b.WriteString(regexp.QuoteMeta(rest))
	}
	return b.String()
}

// match returns what the parts of the pattern match, as replacements for a text.
func (p *pattern) match(host, path string) (parts []string, ok bool) {
	if p.host {
		path = "https://" + host + path
	}
	if p.re == nil {
		return nil, p.text == path
	}
	if !strings.HasPrefix(path, p.literal) {
		return nil, false
	}
	found := p.re.FindStringSubmatch(path)
	for i, name := range p.re.SubexpNames() {
		if i > 0 && found != nil {
			parts = append(parts, ":"+name, found[i])
		}
	}
	return parts, found != nil
}

// replace puts what was matched in the place of its names. A name that begins with another
// one comes before it.
func replace(text string, parts []string) string {
	if len(parts) == 0 || !strings.Contains(text, ":") {
		return text
	}
	pairs := slices.Collect(slices.Chunk(parts, 2))
	slices.SortFunc(pairs, func(a, b []string) int { return len(b[0]) - len(a[0]) })
	return strings.NewReplacer(slices.Concat(pairs...)...).Replace(text)
}

// target puts what was matched into the target of a redirect. What was matched cannot make
// the path another host: it has no empty parts.
func (r *redirect) target(parts []string) string {
	to := replace(r.to, parts)
	if strings.Contains(to, "://") && originPart.MatchString(to) && originPart.MatchString(r.to) {
		return to
	}
	end := strings.IndexAny(to, "?#")
	if end < 0 {
		end = len(to)
	}
	return slashes.ReplaceAllString(to[:end], "/") + to[end:]
}

// redirects are the rules of _redirects. Rules without parts are found by their path.
type redirects struct {
	static  map[string]redirect
	dynamic []redirect
}

type redirect struct {
	pattern

	order  int
	to     string
	status int
}

func newRedirects(rules []bundle.Redirect) redirects {
	r := redirects{static: map[string]redirect{}}
	for i, rule := range rules {
		p, err := newPattern(rule.From)
		if err != nil {
			continue // the client warned of it
		}
		entry := redirect{pattern: p, order: i, to: rule.To, status: rule.Status}
		if p.re != nil {
			r.dynamic = append(r.dynamic, entry)
		} else if _, twice := r.static[p.text]; !twice {
			r.static[p.text] = entry
		}
	}
	return r
}

// find returns the first rule for the path.
func (r *redirects) find(path string) (to string, status int, ok bool) {
	if len(r.static) == 0 && len(r.dynamic) == 0 {
		return "", 0, false
	}
	first, found := r.static[path]
	for i := range r.dynamic {
		d := &r.dynamic[i]
		if found && first.order < d.order {
			break
		}
		if parts, ok := d.match("", path); ok {
			return d.target(parts), d.status, true
		}
	}
	return first.to, first.status, found
}

// headerRule is a rule of _headers.
type headerRule struct {
	pattern
	bundle.HeaderRule
}

// framing are the headers that describe the message and not the content: no rule
// changes them.
var framing = []string{"Connection", "Content-Length", "Transfer-Encoding"} //nolint:gochecknoglobals // a constant table

func newHeaderRules(rules []bundle.HeaderRule) []headerRule {
	var list []headerRule
	for _, rule := range rules {
		rule.Set = slices.DeleteFunc(slices.Clone(rule.Set), func(h bundle.Header) bool {
			return slices.Contains(framing, http.CanonicalHeaderKey(h.Name))
		})
		if p, err := newPattern(rule.Path); err == nil {
			list = append(list, headerRule{p, rule})
		}
	}
	return list
}

// customize applies _headers. The first rule that sets a header replaces what the answer
// has; the others add to it.
func (s *Site) customize(h http.Header, r *Request, path string) {
	s.asPages(h)
	var set map[string]bool
	for i := range s.headers {
		rule := &s.headers[i]
		parts, ok := rule.match(r.hostname(), path)
		if !ok {
			continue
		}
		for _, name := range rule.Unset {
			h.Del(name)
		}
		for _, field := range rule.Set {
			key := http.CanonicalHeaderKey(field.Name)
			value := replace(field.Value, parts)
			switch {
			case !set[key]:
				if set == nil {
					set = map[string]bool{}
				}
				h.Set(key, value)
				set[key] = true
			case key == "Set-Cookie" || h.Get(key) == "":
				h.Add(key, value)
			default:
				h.Set(key, h.Get(key)+", "+value)
			}
		}
	}
}

// workerFirst are the patterns of run_worker_first.
type workerFirst struct {
	all              bool
	listed           bool
	include, exclude []string
}

func newWorkerFirst(w bundle.WorkerFirst) workerFirst {
	f := workerFirst{all: w.All, listed: len(w.Patterns) > 0}
	for _, p := range w.Patterns {
		if rest, not := strings.CutPrefix(p, "!"); not {
			f.exclude = append(f.exclude, rest)
		} else {
			f.include = append(f.include, p)
		}
	}
	return f
}

// matchesAny reports whether a path matches one of the patterns, in which "*" is any
// text.
func matchesAny(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return glob(p, path) })
}

// glob matches without regular expressions: only "*" has a meaning.
func glob(pattern, text string) bool {
	head, rest, any := strings.Cut(pattern, "*")
	if !any {
		return pattern == text
	}
	text, ok := strings.CutPrefix(text, head)
	for ok && any {
		head, rest, any = strings.Cut(rest, "*")
		if !any {
			return strings.HasSuffix(text, head)
		}
		_, text, ok = strings.Cut(text, head)
	}
	return false
}
