package assetstore_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/server/versions/assetstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// world is a store with the ends of its versions.
type world struct {
	t *testing.T
	*assetstore.Store
	bucket objstore.Bucket
	dir    string
	ended  map[string]time.Time
}

func newWorld(t *testing.T, bucket objstore.Bucket) *world {
	t.Helper()
	w := &world{t: t, bucket: bucket, dir: t.TempDir(), ended: map[string]time.Time{}}
	w.Store = assetstore.New(assetstore.Config{Bucket: bucket, Dir: w.dir, Limits: bundle.Limits{Asset: 1 << 20, Files: 10}})
	return w
}

func ref(version string) svc.Ref { return svc.Ref{Project: "shop", Version: version} }

// file is an asset with this content.
func file(path, content string) bundle.File {
	sum := sha256.Sum256([]byte(content))
	return bundle.File{Path: "assets/" + path, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(content))}
}

// archive has contents under the names of files.
func archive(t *testing.T, files []bundle.File, contents ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	w := tar.NewWriter(zip)
	for i, f := range files {
		err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.SHA256 + "/" + f.Path, Size: int64(len(contents[i])), Mode: 0o600})
		if _, writeErr := w.Write([]byte(contents[i])); err != nil || writeErr != nil {
			t.Fatal(err, writeErr)
		}
	}
	if err := errors.Join(w.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// upload announces the contents as files "0", "1" and so on, and sends those that are
// missing, whose number it returns.
func (w *world) upload(version string, contents ...string) (sent int) {
	w.t.Helper()
	missing, err := w.Announce(w.t.Context(), ref(version), files(contents))
	if err != nil {
		w.t.Fatal(err)
	}
	var list []bundle.File
	var texts []string
	for i, f := range files(contents) {
		if slices.Contains(missing, f.SHA256) {
			list, texts = append(list, f), append(texts, contents[i])
		}
	}
	if _, err := w.Accept(w.t.Context(), ref(version), bytes.NewReader(archive(w.t, list, texts...))); err != nil {
		w.t.Fatal(err)
	}
	return len(list)
}

func files(contents []string) (list []bundle.File) {
	for i, text := range contents {
		list = append(list, file(string(rune('0'+i)), text))
	}
	return list
}

// fill unpacks the files of a version and returns their contents.
func (w *world) fill(version string, contents ...string) (dir string, err error) {
	dir = w.dir + "/shop/" + version
	return dir, w.Fill(w.t.Context(), ref(version), bundle.Manifest{Assets: &bundle.Assets{Files: files(contents)}}, dir)
}

func (w *world) collect() svc.GCAssets {
	w.t.Helper()
	found, err := w.Collect(w.t.Context(), "shop", assetstore.CollectOptions{
		Grace: time.Hour,
		Ended: func(version string) (time.Time, bool) { at, ok := w.ended[version]; return at, ok },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// objects are the keys of the bucket below the project.
func (w *world) objects(dir string) (names []string) {
	w.t.Helper()
	prefix := "_assets/shop/" + dir + "/"
	err := objstore.Each(w.t.Context(), w.bucket, prefix, func(i objstore.Info) error {
		names = append(names, strings.TrimPrefix(i.Key, prefix))
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return names
}

func amount(objects int, bytes int64) svc.Amount { return svc.Amount{Objects: objects, Bytes: bytes} }
