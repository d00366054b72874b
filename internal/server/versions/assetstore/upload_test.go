package assetstore_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore/objstoretest"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestOnlyMissing: a version sends what no version of the project has sent; one content
// under two names is sent once.
func TestOnlyMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &memstore.Bucket{})
	large := strings.Repeat("x", 300<<10)
	for _, step := range []struct {
		version string
		files   []string
		sent    int
	}{
		{"v1", []string{"a", "b", large}, 3},
		{"v2", []string{"a", "b", large}, 0},
		{"v3", []string{"a", "c", large}, 1},
		{"v4", []string{}, 0},
	} {
		if sent := w.upload(step.version, step.files...); sent != step.sent {
			t.Errorf("%s sends %d files, want %d", step.version, sent, step.sent)
		}
	}
	dir, err := w.fill("v3", "a", "c", large)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "assets/1")); err != nil || string(text) != "c" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestInterrupted: what came before the end of a broken upload is kept, and the repeated
// question names the rest.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &memstore.Bucket{})
	contents := []string{strings.Repeat("a", 300<<10), strings.Repeat("b", 300<<10)}
	all := files(contents)
	if _, err := w.Announce(t.Context(), ref("v1"), all); err != nil {
		t.Fatal(err)
	}
	whole := archive(t, all, contents...)
	first := archive(t, all[:1], contents[0])
	cut := bytes.NewReader(whole[:(len(first)+len(whole))/2])
	if _, err := w.Accept(t.Context(), ref("v1"), cut); svc.CodeOf(err) != svc.CodeBundleTruncated {
		t.Errorf("a truncated archive: %v", err)
	}
	missing, err := w.Announce(t.Context(), ref("v1"), all)
	if err != nil || !slices.Equal(missing, []string{all[1].SHA256}) {
		t.Errorf("missing after the interruption: %v, %v", missing, err)
	}
}

// TestHostile: nothing is stored that is not what was announced.
func TestHostile(t *testing.T) {
	t.Parallel()
	good := file("a.html", "good")
	for name, test := range map[string]struct {
		sent    bundle.File
		content string
		code    string
	}{
		"content of another hash": {good, "evil", svc.CodeAssetMismatch},
		"another size":            {good, "good and more", svc.CodeAssetMismatch},
		"not announced":           {file("b.html", "other"), "other", svc.CodeAssetMismatch},
		"no hash":                 {bundle.File{Path: "assets/a.html", SHA256: "../../x"}, "good", svc.CodeBundlePath},
		"a path outside":          {bundle.File{Path: "../a.html", SHA256: good.SHA256}, "good", svc.CodeBundlePath},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, &memstore.Bucket{})
			if _, err := w.Announce(t.Context(), ref("v1"), []bundle.File{good}); err != nil {
				t.Fatal(err)
			}
			_, err := w.Accept(t.Context(), ref("v1"), bytes.NewReader(archive(t, []bundle.File{test.sent}, test.content)))
			if svc.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.sent.Path) {
				t.Errorf("%v; want %s that names %s", err, test.code, test.sent.Path)
			}
			if left := w.objects("files"); left != nil {
				t.Errorf("stored: %v", left)
			}
		})
	}
}

// TestAnnouncedOnce: the limits and the form of a list are checked before anything is
// sent, and it cannot be changed.
func TestAnnouncedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &memstore.Bucket{})
	w.upload("v1", "a")
	a := file("a", "a")
	longer := a
	longer.Path, longer.Size = "assets/longer", 2
	for name, test := range map[string]struct {
		version string
		files   []bundle.File
		code    string
		names   string
	}{
		"too many":             {"v2", files(strings.Split("abcdefghijk", "")), svc.CodeBundleTooLarge, `"assets/:"`},
		"too large":            {"v2", []bundle.File{{Path: "assets/big", SHA256: a.SHA256, Size: 1<<20 + 1}}, svc.CodeBundleTooLarge, "assets/big"},
		"no hash":              {"v2", []bundle.File{{Path: "assets/x", SHA256: "1"}}, svc.CodeManifestInvalid, "sha256"},
		"outside":              {"v2", []bundle.File{{Path: "assets/../x", SHA256: a.SHA256}}, svc.CodeManifestInvalid, "assets/../x"},
		"two sizes":            {"v2", []bundle.File{a, longer}, svc.CodeAssetMismatch, "assets/longer"},
		"another size is kept": {"v3", []bundle.File{longer}, svc.CodeAssetMismatch, a.SHA256},
		"another list":         {"v1", []bundle.File{file("0", "b")}, svc.CodeAssetsAnnounced, "shop/v1"},
	} {
		if _, err := w.Announce(t.Context(), ref(test.version), test.files); svc.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.names) {
			t.Errorf("%s: %v; want %s that names %s", name, err, test.code, test.names)
		}
	}
}

// TestFillNamesMissing: a file that is not in the object store fails a version by its
// name, and one that the object store does not return is tried again later.
func TestFillNamesMissing(t *testing.T) {
	t.Parallel()
	fail := errors.New("down")
	down := false
	mem := &memstore.Bucket{}
	w := newWorld(t, objstoretest.Fail(mem, func(op objstoretest.Op, _ string) error {
		if down && op == objstoretest.Get {
			return fail
		}
		return nil
	}))
	w.upload("v1", "a", "b")
	if err := mem.Delete(t.Context(), "_assets/shop/files/"+file("", "b").SHA256); err != nil {
		t.Fatal(err)
	}
	if _, err := w.fill("v1", "a", "b"); svc.CodeOf(err) != svc.CodeAssetMissing || !strings.Contains(err.Error(), `"assets/1"`) {
		t.Errorf("missing: %v", err)
	}
	down = true
	if _, err := w.fill("v2", "b"); svc.CodeOf(err) != svc.CodeArtifactUnreadable || !errors.Is(err, fail) {
		t.Errorf("unreadable: %v", err)
	}
}
