package durable

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
)

// files are the names of the objects of k that have a file.
func files(t *testing.T, k *Keeper) (names []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(k.Dir(), key, "*"+suffix))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if name := strings.TrimSuffix(filepath.Base(path), suffix); name != metadata {
			names = append(names, name)
		}
	}
	return names
}

// ids are the names of the objects that have rows.
func ids(t *testing.T, k *Keeper) (names []string) {
	t.Helper()
	rows, err := objects(t.Context(), k.db)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.name != metadata {
			names = append(names, r.name)
		}
	}
	slices.Sort(names)
	return names
}

func closeAfter(t *testing.T, w *worker, k *Keeper, signal syscall.Signal) {
	t.Helper()
	w.end(signal)
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
}

// An object gets its file when it is opened; the others stay unchanged in the rows, through
// captures, cuts, an end of workerd, another start and a child.
func TestFilesAreMadeWhenOpened(t *testing.T) {
	t.Parallel()
	v, dir := bindingtest.OpenVolumes(t, t.TempDir()), filepath.Join(t.TempDir(), "objects")
	k := keep(t, v, dir, "v1")
	w := serve(t, k)
	for _, name := range []string{"a", "b", "c", "d"} {
		w.want(t, name+"/add", "1")
	}
	closeAfter(t, w, k, syscall.SIGTERM)
	all := ids(t, k)

	k = keep(t, v, filepath.Join(t.TempDir(), "child"), "v2")
	if made := files(t, k); len(made) != 0 {
		t.Fatalf("before the start there are %d files", len(made))
	}
	w = serve(t, k)
	w.want(t, "a/add", "2")
	if made := files(t, k); w.lazy && len(made) != 1 {
		t.Errorf("after one object was opened there are %d files", len(made))
	}
	if err := k.Cut(t.Context(), func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	w.want(t, "b/clear", "cleared")
	closeAfter(t, w, k, syscall.SIGKILL)
	if got := ids(t, k); !slices.Equal(got, all) {
		t.Errorf("the rows are of %v, want %v", got, all)
	}

	k = keep(t, v, k.Dir(), "v2") // on the same files
	w = serve(t, k)
	w.want(t, "a/get", "2")
	w.want(t, "b/get", "0")
	w.want(t, "c/add", "2")
	if made := files(t, k); w.lazy && len(made) != 3 {
		t.Errorf("after three objects were opened there are %d files", len(made))
	}
	closeAfter(t, w, k, syscall.SIGTERM)

	k = keep(t, v, filepath.Join(t.TempDir(), "grandchild"), "v3")
	w = serve(t, k)
	for name, n := range map[string]string{"a": "2", "b": "0", "c": "2", "d": "1"} {
		w.want(t, name+"/get", n)
	}
	closeAfter(t, w, k, syscall.SIGTERM)
	equal(t, k)
}

// A Keeper does not read files again that the one before closed, and reads those that were
// changed since.
func TestClosedFilesAreNotRead(t *testing.T) {
	t.Parallel()
	v, dir := bindingtest.OpenVolumes(t, t.TempDir()), filepath.Join(t.TempDir(), "objects")
	k := keep(t, v, dir, "v1")
	w := serve(t, k)
	w.want(t, "a/add", "1")
	w.want(t, "b/add", "1")
	closeAfter(t, w, k, syscall.SIGTERM)

	db := k.db
	k = newKeeper(k.cfg)
	k.db = db
	if err := k.readClosed(t.Context()); err != nil || len(k.objects) != 3 {
		t.Errorf("%d files are known, %v; want those of two objects and of the alarms", len(k.objects), err)
	}
	for _, o := range k.objects {
		if c, err := o.poll(); c != nil || err != nil {
			t.Errorf("%s is read again: %v", o.name, err)
		}
	}
	if err := k.readClosed(t.Context()); err != nil || !missing(filepath.Join(dir, closedFile)) {
		t.Errorf("the list is there for a second reader: %v", err)
	}

	k = keep(t, v, dir, "v1")
	w = serve(t, k)
	w.want(t, "a/add", "2")
	w.end(syscall.SIGKILL)
	k.abandon()
	k = keep(t, v, dir, "v1")
	w = serve(t, k)
	w.want(t, "a/add", "3")
	w.want(t, "b/get", "1")
	closeAfter(t, w, k, syscall.SIGTERM)
	equal(t, k)
}

// An object comes with its facets, each under its name; a deleted one does not come back.
func TestFacets(t *testing.T) {
	t.Parallel()
	v, dir := bindingtest.OpenVolumes(t, t.TempDir()), filepath.Join(t.TempDir(), "objects")
	k := keep(t, v, dir, "v1")
	w := serve(t, k)
	w.want(t, "a/facet/x", "1")
	w.want(t, "a/facet/y", "1")
	w.want(t, "a/facet/y", "2")
	w.want(t, "a/facet/z", "1")
	w.want(t, "a/forget/x", "deleted")
	w.want(t, "b/facet/x", "1")
	closeAfter(t, w, k, syscall.SIGTERM)
	equal(t, k)

	k = keep(t, v, filepath.Join(t.TempDir(), "child"), "v2")
	w = serve(t, k)
	w.want(t, "a/facet/y", "3")
	w.want(t, "a/facet/z", "2")
	w.want(t, "a/facet/x", "1")
	w.want(t, "a/forget/z", "deleted")
	w.end(syscall.SIGKILL)
	k.abandon()

	k = keep(t, v, k.Dir(), "v2") // its host was killed
	w = serve(t, k)
	w.want(t, "a/facet/y", "4")
	w.want(t, "a/facet/z", "1")
	w.want(t, "b/facet/x", "2")
	closeAfter(t, w, k, syscall.SIGTERM)
	equal(t, k)
}

// A Keeper that is killed while it makes the files of an object with facets has made some of
// them; the object is not taken for a deleted one.
func TestPartOfAFamily(t *testing.T) {
	t.Parallel()
	v := bindingtest.OpenVolumes(t, t.TempDir())
	k := keep(t, v, filepath.Join(t.TempDir(), "objects"), "v1")
	w := serve(t, k)
	w.want(t, "a/add", "1")
	w.want(t, "a/facet/x", "1")
	closeAfter(t, w, k, syscall.SIGTERM)

	k = keep(t, v, filepath.Join(t.TempDir(), "child"), "v2")
	rows, err := query(t.Context(), k.db, sqlFamily, key, ids(t, k)[0])
	if err != nil || len(rows) != 3 {
		t.Fatalf("%d rows, %v; want those of the list, the facet and the object", len(rows), err)
	}
	if err := errors.Join(k.makeFile(t.Context(), rows[0]), k.makeFile(t.Context(), rows[1])); err != nil {
		t.Fatal(err)
	}
	k = keep(t, v, k.Dir(), "v2")
	w = serve(t, k)
	w.want(t, "a/add", "2")
	w.want(t, "a/facet/x", "2")
	closeAfter(t, w, k, syscall.SIGTERM)
	equal(t, k)
}

// Where opens are not reported all files are made, also on a directory that lacks some.
func TestMakeAll(t *testing.T) {
	t.Parallel()
	v := bindingtest.OpenVolumes(t, t.TempDir())
	k := keep(t, v, filepath.Join(t.TempDir(), "objects"), "v1")
	w := serve(t, k)
	for _, name := range []string{"a", "b", "c"} {
		w.want(t, name+"/add", "1")
	}
	closeAfter(t, w, k, syscall.SIGTERM)

	k = keep(t, v, filepath.Join(t.TempDir(), "child"), "v2")
	w = serve(t, k)
	w.want(t, "a/add", "2")
	closeAfter(t, w, k, syscall.SIGKILL)
	k = keep(t, v, k.Dir(), "v2")
	if err := k.MakeAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if made := files(t, k); len(made) != 3 {
		t.Fatalf("there are %d files, want 3", len(made))
	}
	equal(t, k)
	if err := k.find(); err != nil {
		t.Fatal(err)
	}
	for _, o := range k.objects {
		if !o.known {
			t.Errorf("%s is read again though it was made from the rows", o.name)
		}
	}
	w = serve(t, k)
	w.want(t, "a/get", "2")
	w.want(t, "c/get", "1")
	closeAfter(t, w, k, syscall.SIGTERM)
}

// An object whose rows cannot be read gets no file, and one as soon as they can.
func TestUnreadableRows(t *testing.T) {
	t.Parallel()
	v := bindingtest.OpenVolumes(t, t.TempDir())
	k := keep(t, v, filepath.Join(t.TempDir(), "objects"), "v1")
	w := serve(t, k)
	w.want(t, "a/add", "1")
	closeAfter(t, w, k, syscall.SIGTERM)
	change := func(text string) {
		if err := k.db.Write(t.Context(), func(c *raw.Conn) error { return c.Exec(text) }); err != nil {
			t.Fatal(err)
		}
	}
	change(`UPDATE durable_object SET pages = pages + 1 WHERE name <> 'metadata'`)

	k = keep(t, v, filepath.Join(t.TempDir(), "child"), "v2")
	path := filepath.Join(k.Dir(), key, ids(t, k)[0]+suffix)
	if err := k.Opening(t.Context(), path); err == nil {
		t.Error("an object with a page too few is restored")
	}
	if err := k.MakeAll(t.Context()); err == nil {
		t.Error("an object with a page too few is restored with all others")
	}
	if made := files(t, k); len(made) != 0 {
		t.Errorf("there are %d files", len(made))
	}
	change(`UPDATE durable_object SET pages = pages - 1 WHERE name <> 'metadata'`)
	w = serve(t, k)
	w.want(t, "a/get", "1")
	closeAfter(t, w, k, syscall.SIGTERM)
}

// What a Keeper that was killed had begun to make is no file of an object.
func TestUnfinishedFiles(t *testing.T) {
	t.Parallel()
	v, dir := bindingtest.OpenVolumes(t, t.TempDir()), filepath.Join(t.TempDir(), "objects")
	k := keep(t, v, dir, "v1")
	temp, err := k.writeImage([]byte("some"))
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	k = keep(t, v, dir, "v1")
	if _, err := os.Stat(temp); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the unfinished file: %v", err)
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
}

// Names that are none of an object's, and directories of others, are left alone.
func TestOtherOpens(t *testing.T) {
	t.Parallel()
	v := bindingtest.OpenVolumes(t, t.TempDir())
	k := keep(t, v, filepath.Join(t.TempDir(), "objects"), "v1")
	id := strings.Repeat("0", 64)
	for _, path := range []string{
		filepath.Join(k.Dir(), key, id+suffix+"-wal"), filepath.Join(k.Dir(), key, "../../"+id+suffix),
		filepath.Join(t.TempDir(), id+suffix), filepath.Join(k.Dir(), key, "x"+suffix), "/proc/0/fd/3/" + id + suffix,
	} {
		if err := k.Opening(context.WithoutCancel(t.Context()), path); err != nil || len(k.opened) != 0 {
			t.Errorf("%s: %v, %v", path, err, k.opened)
		}
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
}
