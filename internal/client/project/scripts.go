package project

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// manifest is what a package.json says.
type manifest struct {
	Scripts         map[string]string `json:"scripts"`
	Dependencies    map[string]string `json:"dependencies"`
	DevDependencies map[string]string `json:"devDependencies"`
}

// manifestOf reads the package.json of a directory; an empty one if it cannot be read.
func manifestOf(dir string) (m manifest) {
	data, _ := os.ReadFile(filepath.Join(dir, "package.json")) // a project may have none
	_ = json.Unmarshal(data, &m)                               // what cannot be read is absent
	return m
}

// uses reports whether a package is among the dependencies.
func (m manifest) uses(name string) bool {
	return m.Dependencies[name] != "" || m.DevDependencies[name] != ""
}

// call is how a script of package.json calls wrangler.
type call struct {
	script string // its name
	builds string // the commands of a package manager before wrangler that build something, joined by "&&"; "" for none
	entry  string // the entry module that wrangler is given; "" for none
}

// calls finds the scripts that call one of some commands of wrangler. Those whose names begin with
// "deploy" come first.
func calls(dir string, commands ...string) (list []call) {
	scripts := manifestOf(dir).Scripts
	rank := func(name string) string { return strings.TrimPrefix(name, "deploy") } // "" is the lowest
	for _, name := range slices.SortedFunc(maps.Keys(scripts), func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) }) {
		parts := strings.Split(scripts[name], "&&")
		for i, part := range parts {
			if arguments := wranglerArguments(strings.Fields(part), commands); arguments != nil {
				list = append(list, call{script: name, builds: builds(parts[:i]), entry: module(arguments)})
			}
		}
	}
	return list
}

// builds are the commands that build something and that a shell finds: those of package
// managers, and not programs of packages.
func builds(commands []string) string {
	return strings.TrimSpace(strings.Join(slices.DeleteFunc(slices.Clone(commands), func(command string) bool {
		words := strings.Fields(command)
		return len(words) == 0 || !slices.Contains([]string{"npm", "npx", "pnpm", "yarn", "bun", "bunx"}, words[0]) || !strings.Contains(command, "build")
	}), "&&"))
}

// module is the first argument that names a module; "" for none.
func module(arguments []string) string {
	for _, word := range arguments {
		if !strings.HasPrefix(word, "-") && slices.Contains([]string{".js", ".mjs", ".jsx", ".ts", ".mts", ".tsx"}, filepath.Ext(word)) {
			return word
		}
	}
	return ""
}

// wranglerArguments returns the words after one of the commands of wrangler; nil for another
// command.
func wranglerArguments(words, commands []string) []string {
	at := slices.IndexFunc(words, func(w string) bool { return w == "wrangler" || strings.HasPrefix(w, "wrangler@") })
	if at < 0 || at+1 == len(words) || !slices.Contains(commands, words[at+1]) {
		return nil
	}
	return words[at+1:]
}

// entry takes the entry module from a script of package.json where neither the file nor the
// command line names one, as "wrangler deploy src/index.ts" does.
func (l *layers) entry(f *File) {
	if l.get("main") != nil || l.flags.Entry != "" {
		return
	}
	for _, c := range append(calls(f.Dir, "deploy", "publish"), calls(f.Dir, "dev")...) {
		if file := under(f.Dir, c.entry); c.entry != "" && isFile(file) {
			l.flags.Entry = file
			l.r.notices = append(l.r.notices, Notice{Info, l.r.at(l.top.pos), fmt.Sprintf(
				"main is missing; the entry module is %s, as the script %s of package.json says", c.entry, c.script)})
			return
		}
	}
}
