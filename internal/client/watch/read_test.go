package watch

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// The content of a file that no build reads is not reported, whether it exists is.
func TestRead(t *testing.T) {
	t.Parallel()
	watched(t, func(t *testing.T, root string, w *watcher) {
		at := func(name string) string { return filepath.Join(root, name) }
		w.Read([]string{at("index.js"), at("public")})
		write(t, at("log.txt"), "1")
		expect(t, w, at("log.txt")) // it is new
		write(t, at("log.txt"), "12")
		write(t, at("public/new.css"), "1")
		write(t, at("package.json"), "{}")
		for left := []string{at("public/new.css"), at("package.json")}; len(left) > 0; {
			batch := svctest.Wait(t, "changes", w.out).Paths
			if slices.Contains(batch, at("log.txt")) {
				t.Errorf("reported %v", batch)
			}
			left = slices.DeleteFunc(left, func(p string) bool { return slices.Contains(batch, p) })
		}
		write(t, at("package.json"), "{ }")
		expect(t, w, at("package.json"))
		if err := os.Remove(at("log.txt")); err != nil {
			t.Fatal(err)
		}
		expect(t, w, at("log.txt"))
		w.Read(nil)
		write(t, at("other.txt"), "1")
		expect(t, w, at("other.txt"))
		write(t, at("other.txt"), "12")
		expect(t, w, at("other.txt"))
	})
}

// What editors write beside a file matters only if a build reads it.
func TestOfEditor(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		".index.js.swp": true, ".index.js.swx": true, "4913": true, "index.js~": true, ".#index.js": true, "#index.js#": true, ".DS_Store": true,
		"index.js___jb_tmp___": true, "index.js___jb_old___": true, "index.js": false, "a.swp.js": false, ".dev.vars": false, "a.swift": false, "~a": false,
	} {
		if got := ofEditor(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
		all, some := reading{}, reading{files: map[string]bool{"/w/" + name: true}}
		if all.matters("/w/"+name) == want || !some.matters("/w/"+name) {
			t.Errorf("%s matters wrongly", name)
		}
	}
}
