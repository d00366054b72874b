package assets

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/site"
)

// The limits of wrangler.
const (
	maxStaticRedirects  = 2000
	maxDynamicRedirects = 100
	maxHeaderRules      = 100
	maxRuleLine         = 2000 // bytes
)

// rules reads a file of rules, line by line.
type rules struct {
	file    string // as shown to people
	notices []string
}

func (r *rules) skip(line int, format string, args ...any) {
	r.notices = append(r.notices, fmt.Sprintf("%s:%d: the line is ignored: %s", r.file, line, fmt.Sprintf(format, args...)))
}

// lines calls each for the lines that are neither empty nor comments.
func (r *rules) lines(text string, each func(n int, line string)) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(strings.TrimPrefix(line, "\uFEFF"))
		switch {
		case line == "" || line[0] == '#':
		case len(line) > maxRuleLine:
			r.skip(n, "it is longer than %d bytes", maxRuleLine)
		default:
			each(n, line)
		}
	}
}

var (
	dynamic = regexp.MustCompile(`\*|:[A-Za-z]`)
	// loops are targets that html_handling sends back to where the rule began.
	loops    = regexp.MustCompile(`/index(\.html)?$`)
	rootRule = regexp.MustCompile(`/\*?$`)
	// remark is a comment behind a rule; the "#" of a fragment stands behind no space.
	remark   = regexp.MustCompile(`\s#.*`)
	absolute = regexp.MustCompile(`^https?://[^/?#]`)
)

// ParseRedirects reads a _redirects file. file is its name in notices.
func ParseRedirects(file, text string) (list []bundle.Redirect, notices []string) {
	r := rules{file: file}
	seen := map[string]bool{}
	counts := map[bool]int{}
	r.lines(text, func(n int, line string) {
		words := strings.Fields(remark.ReplaceAllString(line, ""))
		rule, err := redirect(words)
		if err == nil && strings.ContainsAny(words[0], "?#") {
			r.notices = append(r.notices, fmt.Sprintf("%s:%d: the rule matches %s: no rule matches a query or fragment", file, n, rule.From))
		}
		moving := dynamic.MatchString(rule.From)
		switch {
		case err != nil:
			r.skip(n, "%v", err)
		case seen[rule.From]:
			r.skip(n, "an earlier line is about %s", rule.From)
		case moving && counts[moving] == maxDynamicRedirects:
			r.skip(n, "there are %d rules with * or a :name already", maxDynamicRedirects)
		case !moving && counts[moving] == maxStaticRedirects:
			r.skip(n, "there are %d rules for one path already", maxStaticRedirects)
		default:
			seen[rule.From] = true
			counts[moving]++
			list = append(list, rule)
		}
	})
	return list, r.notices
}

// redirect reads the words of a line.
func redirect(words []string) (bundle.Redirect, error) {
	if len(words) < 2 || len(words) > 3 {
		return bundle.Redirect{}, fmt.Errorf("want a path, a target and perhaps a status, got %d words", len(words))
	}
	rule := bundle.Redirect{From: from(words[0]), To: words[1], Status: 302}
	if len(words) == 3 {
		rule.Status, _ = strconv.Atoi(words[2])
	}
	switch {
	case absolute.MatchString(words[0]):
		return rule, fmt.Errorf("%q is an URL, and rules are for paths of any host", words[0])
	case strings.Count(rule.From, "*") > 1:
		return rule, fmt.Errorf("%q has more than one *", rule.From)
	case !slices.Contains(bundle.RedirectStatuses(), rule.Status):
		return rule, fmt.Errorf("the status is %s and may be 200, 301, 302, 303, 307 or 308", words[2])
	case rule.Status == 200 && !strings.HasPrefix(rule.To, "/"):
		return rule, fmt.Errorf("%q is no path, which a rule with the status 200 needs", rule.To)
	case !strings.HasPrefix(rule.To, "/") && !absolute.MatchString(rule.To):
		return rule, fmt.Errorf("%q is neither a path nor an http URL", rule.To)
	case rootRule.MatchString(rule.From) && loops.MatchString(rule.To):
		return rule, fmt.Errorf("%s would lead back to the rule", rule.To)
	}
	return rule, site.CheckPattern(rule.From)
}

// from is the path that a word names.
func from(word string) string {
	path, _, _ := strings.Cut(word, "#")
	path, _, _ = strings.Cut(path, "?")
	return site.RulePath("/" + strings.TrimPrefix(path, "/"))
}

// pathLine begins a rule of _headers.
var pathLine = regexp.MustCompile(`^([^\s:]+://|/)`)

// ParseHeaders reads a _headers file. file is its name in notices.
func ParseHeaders(file, text string) (list []bundle.HeaderRule, notices []string) {
	r := rules{file: file}
	skipping := true // the lines of an ignored path
	r.lines(text, func(n int, line string) {
		if pathLine.MatchString(line) {
			err := headerPath(line)
			if err == nil && len(list) == maxHeaderRules {
				err = fmt.Errorf("there are %d rules already", maxHeaderRules)
			}
			if skipping = err != nil; skipping {
				r.skip(n, "%v", err)
				return
			}
			list = append(list, bundle.HeaderRule{Path: site.RulePath(line)})
			return
		}
		if skipping {
			if len(list) == 0 {
				r.skip(n, "it comes before the first path")
			}
			return
		}
		if err := header(&list[len(list)-1], line); err != nil {
			r.skip(n, "%v", err)
		}
	})
	list = slices.DeleteFunc(list, func(h bundle.HeaderRule) bool { return len(h.Set)+len(h.Unset) == 0 })
	return list, r.notices
}

func headerPath(line string) error {
	switch {
	case strings.HasPrefix(line, "/"):
	case !strings.HasPrefix(line, "https://"):
		return fmt.Errorf("%q is neither a path nor an https URL", line)
	case strings.Contains(strings.SplitN(strings.TrimPrefix(line, "https://"), "/", 2)[0], ":") && portOf(line):
		return fmt.Errorf("%q has a port, which no rule matches", line)
	}
	if strings.Count(line, "*") > 1 {
		return fmt.Errorf("%q has more than one *", line)
	}
	return site.CheckPattern(line)
}

// portOf reports whether the host of an URL ends with a number behind a colon: other
// colons begin a placeholder.
func portOf(line string) bool {
	host, _, _ := strings.Cut(strings.TrimPrefix(line, "https://"), "/")
	_, err := strconv.Atoi(host[strings.LastIndexByte(host, ':')+1:])
	return err == nil
}

// headerName is a token of RFC 9110.
var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$")

// header reads "Name: value", or "! Name" which removes a header.
func header(rule *bundle.HeaderRule, line string) error {
	if rest, unset := strings.CutPrefix(line, "!"); unset {
		name := strings.TrimSpace(rest)
		if !headerName.MatchString(name) {
			return fmt.Errorf("%q is not the name of a header", name)
		}
		rule.Unset = append(rule.Unset, name)
		return nil
	}
	name, value, ok := strings.Cut(line, ":")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	switch {
	case !ok:
		return fmt.Errorf("%q is neither a path nor \"Name: value\"", line)
	case !headerName.MatchString(name):
		return fmt.Errorf("%q is not the name of a header", name)
	case value == "":
		return fmt.Errorf("%s has no value", name)
	}
	same := func(h bundle.Header) bool { return strings.EqualFold(h.Name, name) }
	if i := slices.IndexFunc(rule.Set, same); i >= 0 && !strings.EqualFold(name, "set-cookie") {
		rule.Set[i].Value += ", " + value
		return nil
	}
	rule.Set = append(rule.Set, bundle.Header{Name: name, Value: value})
	return nil
}
