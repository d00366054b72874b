package objects_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/svc"
)

func (b r2) seed(files fstest.MapFS, paths ...string) ([]string, error) {
	b.t.Helper()
	s := bundle.Seeds{Binding: "FILES"}
	for _, path := range paths {
		s.Files = append(s.Files, bundle.File{Path: path})
	}
	seeder, ok := b.h.(binding.Seeder)
	if !ok {
		b.t.Fatal("a bucket takes no seeds")
	}
	done, err := seeder.Seed(b.t.Context(), s, files)
	var names []string
	for _, f := range done {
		names = append(names, f.Path)
	}
	return names, err
}

// Each file becomes an object once, whatever becomes of the object.
func TestSeed(t *testing.T) {
	t.Parallel()
	bucket := new(memstore.Bucket)
	b := openBucket(t, bindingtest.OpenVolumesOn(t, t.TempDir(), bucket))
	files := fstest.MapFS{
		"seed/FILES/logo.svg":        {Data: []byte("<svg/>")},
		"seed/FILES/.well-known/a b": {Data: nil},
		"seed/FILES/big":             {Data: large(100<<10, 1)},
	}
	paths := []string{"seed/FILES/.well-known/a b", "seed/FILES/big", "seed/FILES/logo.svg"}
	if got, err := b.seed(files, paths...); err != nil || !slices.Equal(got, paths) {
		t.Fatalf("imported %v, %v", got, err)
	}
	b.wantBody("logo.svg", []byte("<svg/>"))
	b.wantBody(".well-known/a b", nil)
	b.wantBody("big", large(100<<10, 1))
	if code, reply := b.write(`{"version":1,"method":"delete","object":"logo.svg"}`, nil); code != http.StatusOK {
		t.Fatal(reply)
	}
	b.put("big", []byte("changed"))
	files["seed/FILES/new"] = &fstest.MapFile{Data: []byte("new")}
	if got, err := b.seed(files, append(paths, "seed/FILES/new")...); err != nil || !slices.Equal(got, []string{"seed/FILES/new"}) {
		t.Fatalf("imported again: %v, %v", got, err)
	}
	b.wantBody("big", []byte("changed"))
	if code, _, _ := b.read(`{"version":1,"method":"head","object":"logo.svg"}`); code != 10007 {
		t.Errorf("a deleted object is back: %d", code)
	}
	if blobs := stored(t, bucket); len(blobs) != 1 {
		t.Errorf("stored: %v", blobs)
	}
}

// A child imports the files that are new, and changes no object of its parent's.
func TestSeedOfChild(t *testing.T) {
	t.Parallel()
	v := bindingtest.OpenVolumes(t, t.TempDir())
	files := fstest.MapFS{"seed/FILES/seen": {Data: []byte("seed")}, "seed/FILES/own": {Data: []byte("seed")}, "seed/FILES/new": {Data: []byte("new")}}
	parent := openBucket(t, v)
	if _, err := parent.seed(files, "seed/FILES/seen"); err != nil {
		t.Fatal(err)
	}
	remove := func(b r2, key string) {
		if code, reply := b.write(`{"version":1,"method":"delete","object":"`+key+`"}`, nil); code != http.StatusOK {
			t.Fatal(reply)
		}
	}
	remove(parent, "seen")
	parent.put("own", []byte("mine"))
	child := openBucket(t, bindingtest.Inherited{Volumes: v})
	paths := []string{"seed/FILES/new", "seed/FILES/own", "seed/FILES/seen"}
	if got, err := child.seed(files, paths...); err != nil || !slices.Equal(got, paths[:1]) {
		t.Errorf("imported %v, %v", got, err)
	}
	child.wantBody("own", []byte("mine"))
	child.wantBody("new", []byte("new"))
	remove(child, "own") // and it does not come back
	if got, err := child.seed(files, paths...); err != nil || len(got) != 0 {
		t.Errorf("imported again: %v, %v", got, err)
	}
	child.wantCount("SELECT key FROM object_entry", 1)
}

func TestSeedRefused(t *testing.T) {
	t.Parallel()
	b := openBucket(t, bindingtest.OpenVolumes(t, t.TempDir()))
	long := "seed/FILES/" + strings.Repeat("k", 1025)
	for path, want := range map[string]string{
		"seed/FILES.jsonl": "an object store is seeded by the files below seed/FILES/",
		"seed/OTHER/x":     "an object store is seeded by the files below seed/FILES/",
		"seed/FILES/\xff":  "an object store is seeded by the files below seed/FILES/",
		long:               "The specified object name is not valid.",
	} {
		got, err := b.seed(fstest.MapFS{path: {Data: []byte("x")}}, path)
		if len(got) != 0 || svc.CodeOf(err) != "seed_failed" || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, %v", path, got, err)
		}
	}
	if _, err := b.seed(fstest.MapFS{}, "seed/FILES/missing"); err == nil || svc.CodeOf(err) == "seed_failed" {
		t.Errorf("a missing file: %v", err)
	}
	b.wantCount("SELECT key FROM object_entry", 0)
}
