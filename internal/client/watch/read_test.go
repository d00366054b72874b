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
	watched(t, func(t *testing.T, root string, w *Watcher) {
		at := func(name string) string { return filepath.Join(root, name) }
		w.Read([]string{at("index.js"), at("public")})
		write(t, at("log.txt"), "1")
		expect(t, w, at("log.txt")) // it is new
		write(t, at("log.txt"), "12")
		write(t, at("public/new.css"), "1")
		write(t, at("package.json"), "{}")
		for left := []string{at("public/new.css"), at("package.json")}; len(left) > 0; {
			batch := svctest.Wait(t, "changes", w.Changes())
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
