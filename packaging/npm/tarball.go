package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// pkg is a package.
type pkg struct {
	manifest manifest
	text     []byte // package.json, if it is written by hand; else nil
	files    []file
}

type file struct {
	name       string
	data       []byte
	executable bool
}

// packed is the time of all files, as npm pack writes it: a package says nothing of when it was made.
func packed() time.Time { return time.Date(1985, 10, 26, 8, 15, 0, 0, time.UTC) }

// write writes the package to a file in dir that is named as npm pack names it.
func (p pkg) write(dir string) error {
	text, err := p.manifest.text()
	if err != nil {
		return fmt.Errorf("write package.json: %w", err)
	}
	if p.text != nil {
		text = p.text
	}
	var out bytes.Buffer
	zip, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // its level is valid
	archive := tar.NewWriter(zip)
	for _, f := range append([]file{{"package.json", text, false}}, p.files...) {
		mode := int64(0o644)
		if f.executable {
			mode = 0o755
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: "package/" + f.name, Size: int64(len(f.data)), Mode: mode, ModTime: packed()}
		if err := archive.WriteHeader(h); err != nil {
			return fmt.Errorf("pack %s: %w", f.name, err)
		}
		if _, err := archive.Write(f.data); err != nil {
			return fmt.Errorf("pack %s: %w", f.name, err)
		}
	}
	if err := archive.Close(); err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	if err := zip.Close(); err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("create the directory of packages: %w", err)
	}
	name := strings.ReplaceAll(strings.TrimPrefix(p.manifest.Name, "@"), "/", "-") + "-" + p.manifest.Version + ".tgz"
	if err := os.WriteFile(filepath.Join(dir, name), out.Bytes(), 0o644); err != nil { //nolint:gosec // published
		return fmt.Errorf("write a package: %w", err)
	}
	return nil
}
