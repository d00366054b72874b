package pages

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

//go:embed router.js
var router string

// Worker is what the functions of a project are compiled to.
type Worker struct {
	Source string   // of the entry module, which imports from the directory above that of the functions
	Routes []string // patterns of the paths that the worker answers, as in _routes.json
}

// Generate makes the worker of the functions in files, which export the given names. Files
// without handlers are not imported. Errors are Unprocessable: config_invalid for a parameter
// whose name is none.
func Generate(files []string, exports map[string][]string) (Worker, error) {
	list, err := handlers(files, exports)
	if err != nil {
		return Worker{}, err
	}
	var imports, routes strings.Builder
	for i := 0; i < len(list); {
		h := list[i]
		var modules, middlewares []string
		for ; i < len(list) && list[i].method == h.method && list[i].path == h.path; i++ {
			name := fmt.Sprintf("f%d", i)
			fmt.Fprintf(&imports, "import { %s as %s } from %s;\n", list[i].export, name, quote("./functions/"+list[i].file))
			if list[i].middleware {
				middlewares = append(middlewares, name)
			} else {
				modules = append(modules, name)
			}
		}
		routes.WriteString("  " + h.route(modules, middlewares) + ",\n")
	}
	return Worker{Source: imports.String() + router + "\nconst routes = [\n" + routes.String() + "];\n", Routes: patterns(list)}, nil
}

// route is the call that defines a route.
func (h handler) route(modules, middlewares []string) string {
	exact, names := expression(h.path, true)
	inside, _ := expression(h.path, false)
	mount, mountNames := expression(h.mount, false)
	return fmt.Sprintf("route(%s, %s, %s, %s, %s, %s, [%s], [%s])", quote(h.method), quote(exact), quote(inside), quote(names), quote(mount), quote(mountNames),
		strings.Join(modules, ", "), strings.Join(middlewares, ", "))
}

func quote(v any) string {
	data, _ := json.Marshal(v) // strings always encode
	return string(data)
}

// expression is the regular expression of a path, the whole of one or its beginning, and the
// names of its groups.
func expression(p string, whole bool) (text string, names []string) {
	names = []string{}
	for _, segment := range (handler{path: p}).segments() {
		if m := anyParam.FindStringSubmatch(segment); m != nil && m[0] == segment && m[2] == "*" {
			text, names = text+`(?:\/([^\/#?]+(?:\/[^\/#?]+)*))?`, append(names, m[1]+"*")
			continue
		}
		text += `\/`
		last := 0
		for _, at := range anyParam.FindAllStringSubmatchIndex(segment, -1) {
			text += regexp.QuoteMeta(segment[last:at[0]])
			text, names = text+`([^\/#?]+?)`, append(names, segment[at[2]:at[3]])
			last = at[1]
		}
		text += regexp.QuoteMeta(segment[last:])
	}
	switch {
	case whole:
		return "^" + text + `[\/#?]?$`, names
	case p == "/":
		return `^\/`, names
	}
	return "^" + text + `(?:[\/#?](?=$))?(?=[\/#?]|$)`, names
}

// patterns are the paths that the handlers answer, without those inside of others.
func patterns(list []handler) (all []string) {
	for _, h := range list {
		p := anyParam.ReplaceAllString(h.path, "*")
		if i := strings.Index(p, "*"); i >= 0 {
			p = p[:i+1]
		}
		if h.middleware && !strings.HasSuffix(p, "*") {
			p = strings.TrimSuffix(p, "/") + "/*"
		}
		all = append(all, p)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return slices.DeleteFunc(slices.Clone(all), func(p string) bool {
		return slices.ContainsFunc(all, func(other string) bool {
			return other != p && strings.HasSuffix(other, "*") && strings.HasPrefix(p, strings.TrimSuffix(other, "*"))
		})
	})
}
