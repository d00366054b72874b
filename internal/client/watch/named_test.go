package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// A directory that is named is reported with what is below it, also after it was deleted and
// made again, and in a hidden directory, as where frameworks build static files.
func TestNamedDirectory(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{".output/public", ".svelte-kit/cloudflare", "../shared"} {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			watched(t, func(t *testing.T, root string, w *watcher) {
				at := func(name string) string { return filepath.Join(root, dir, name) }
				write(t, at("old/deep/a.css"), "1")
				w.Also([]string{at(".")})
				w.Read([]string{at(".")})
				for _, name := range []string{"old/deep/a.css", "b.css", "new/deep/c.css", ".well-known/security.txt"} {
					write(t, at(name), "12")
					expect(t, w, at(name))
				}
				if err := os.RemoveAll(filepath.Join(root, filepath.Dir(dir), filepath.Base(dir))); err != nil {
					t.Fatal(err)
				}
				expect(t, w, at("b.css"))
				write(t, at("b.css"), "123")
				write(t, at("new/deep/c.css"), "123")
				expect(t, w, at("b.css"), at("new/deep/c.css"))
				write(t, at("new/deep/c.css"), "1234")
				expect(t, w, at("new/deep/c.css"))
			})
		})
	}
}

// What is named may not exist yet, nor the directories above it. Its neighbors are not reported.
func TestNamedBeforeItExists(t *testing.T) {
	t.Parallel()
	watched(t, func(t *testing.T, root string, w *watcher) {
		at := func(name string) string { return filepath.Join(root, name) }
		w.Also([]string{at(".output/server/index.mjs"), at(".output/public")})
		for i := range 3 {
			write(t, at(".output/server/other.mjs"), fmt.Sprint(i))
			write(t, at(".output/server/index.mjs"), fmt.Sprint(i))
			write(t, at(".output/public/a/.cache/x"), fmt.Sprint(i))
			write(t, at(".output/public/a/b"), fmt.Sprint(i))
			for left := []string{at(".output/server/index.mjs"), at(".output/public/a/b")}; len(left) > 0; {
				batch := svctest.Wait(t, "changes", w.out).Paths
				if slices.Contains(batch, at(".output/server/other.mjs")) || slices.Contains(batch, at(".output/public/a/.cache/x")) {
					t.Errorf("reported %v", batch)
				}
				left = slices.DeleteFunc(left, func(p string) bool { return slices.Contains(batch, p) })
			}
			if err := os.RemoveAll(at(".output")); err != nil {
				t.Fatal(err)
			}
			expect(t, w, at(".output/public/a/b"))
		}
	})
}

// A directory that is renamed is reported by its new name, with those below it.
func TestRenamedDirectory(t *testing.T) {
	t.Parallel()
	watched(t, func(t *testing.T, root string, w *watcher) {
		at := func(name string) string { return filepath.Join(root, name) }
		write(t, at("src/deep/a.js"), "1")
		expect(t, w, at("src/deep/a.js"))
		if err := os.Rename(at("src"), at("lib")); err != nil {
			t.Fatal(err)
		}
		expect(t, w, at("lib/deep/a.js"))
		write(t, at("lib/deep/a.js"), "12")
		expect(t, w, at("lib/deep/a.js"))
		if err := os.Rename(at("lib"), at("src")); err != nil {
			t.Fatal(err)
		}
		expect(t, w, at("src/deep/a.js"))
		write(t, at("src/deep/a.js"), "123")
		expect(t, w, at("src/deep/a.js"))
	})
}

// Ten thousand files: a change of one is reported, and it alone.
func TestManyFiles(t *testing.T) {
	t.Parallel()
	const files = 10_000
	at := func(root string, i int) string { return filepath.Join(root, fmt.Sprintf("src/%02d/%04d.js", i%100, i)) }
	fill := func(t *testing.T, root string) {
		write(t, at(root, 0), "the content of all")
		for i := 1; i < files; i++ {
			if i < 100 {
				if err := os.Mkdir(filepath.Dir(at(root, i)), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Link(at(root, 0), at(root, i)); err != nil { // much quicker than a file of its own
				t.Fatal(err)
			}
		}
	}
	watchedIn(t, fill, func(t *testing.T, root string, w *watcher) {
		other, changed := filepath.Join(realDir(t), "new.js"), at(root, files/2)
		write(t, other, "another")
		if err := os.Rename(other, changed); err != nil {
			t.Fatal(err)
		}
		if batch := svctest.Wait(t, "the change", w.out).Paths; !slices.Equal(batch, []string{changed}) {
			t.Errorf("reported %d files, such as %s", len(batch), batch[0])
		}
	})
}
