package site_test

import (
	"net/http"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/site"
)

// TestKeptFiles: files of earlier versions are served as the own ones, which win; other paths are
// what they were.
func TestKeptFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	kept := bundle.Kept{Files: []bundle.KeptFile{
		{File: bundle.File{Path: "assets/app-3f9a1c2b.js", SHA256: "old", Size: 3}, Releases: 1},
		{File: bundle.File{Path: "assets/both-3f9a1c2b.js", SHA256: "old", Size: 3}, Releases: 1},
	}}
	if err := bundle.WriteKept(dir, kept); err != nil {
		t.Fatal(err)
	}
	s := site.New(&bundle.Manifest{Assets: &bundle.Assets{
		Files:   []bundle.File{{Path: "assets/both-3f9a1c2b.js", SHA256: "own", Size: 4}},
		Headers: []bundle.HeaderRule{{Path: "/*", Set: []bundle.Header{{Name: "X-New", Value: "1"}}}},
	}}, dir)
	a, _ := ask(s, "/app-3f9a1c2b.js")
	if a.Status != http.StatusOK || a.File != bundle.KeptPath(dir, kept.Files[0].File) || a.ID != "old" ||
		a.Header.Get("Content-Type") != "text/javascript; charset=utf-8" || a.Header.Get("X-New") != "1" {
		t.Errorf("a kept file: %+v", a)
	}
	if a, _ := ask(s, "/both-3f9a1c2b.js"); a.ID != "own" || a.File == bundle.KeptPath(dir, kept.Files[1].File) {
		t.Errorf("the own file: %+v", a)
	}
	if a, _ := ask(s, "/app-00000000.js"); a.Status != http.StatusNotFound {
		t.Errorf("a file of no version: %+v", a)
	}
}
