package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// registry serves the packages in dir as the registry of npm does.
func registry(t *testing.T, dir string) (url string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(names) == 0 {
		t.Fatal("no packages", err)
	}
	documents, tarballs := map[string]func(base string) []byte{}, map[string][]byte{}
	for _, path := range names {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m := manifestOf(t, data)
		tarballs[filepath.Base(path)] = data
		documents[fmt.Sprint(m["name"])] = func(base string) []byte { return document(t, base, filepath.Base(path), m, data) }
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		base := "http://" + r.Host
		if data, ok := tarballs[strings.TrimPrefix(r.URL.Path, "/-/")]; ok {
			_, _ = w.Write(data)
		} else if doc, ok := documents[strings.TrimPrefix(r.URL.Path, "/")]; ok {
			_, _ = w.Write(doc(base))
		} else {
			http.Error(w, "{}", http.StatusNotFound)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// document is what the registry says of a package with one version.
func document(t *testing.T, base, tarball string, m map[string]any, data []byte) []byte {
	t.Helper()
	sum := sha512.Sum512(data)
	_, scripts := m["scripts"]
	m["hasInstallScript"] = scripts
	m["dist"] = map[string]string{"tarball": base + "/-/" + url.PathEscape(tarball), "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}
	version := fmt.Sprint(m["version"])
	text, err := json.Marshal(map[string]any{"name": m["name"], "dist-tags": map[string]string{"latest": version}, "versions": map[string]any{version: m}})
	if err != nil {
		t.Error(err)
	}
	return text
}

// manifestOf reads the first file of a package.
func manifestOf(t *testing.T, data []byte) (m map[string]any) {
	t.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewReader(zip)
	if h, err := archive.Next(); err != nil || h.Name != "package/package.json" {
		t.Fatal(h, err)
	}
	text, err := io.ReadAll(archive)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}
