package bundle

import (
	"archive/tar"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// fileMode is the mode of every file in a bundle.
const fileMode = 0o644

// Packed describes a bundle that Pack wrote.
type Packed struct {
	Manifest Manifest // as packed: with the hash and size of every file
	Digest   string   // "sha256:<hex>" of the object
	Size     int64    // bytes of the object
}

// Pack writes the bundle of m to w, with the files that m lists read from files
// at their paths in the bundle. The hashes and sizes in m are filled in here
// and need not be set. Equal input gives equal bytes: names are sorted, times
// and owners are zero. w is not closed.
func Pack(w io.Writer, m Manifest, files fs.FS) (Packed, error) {
	m.SchemaVersion = SchemaVersion
	m, err := seal(m, files)
	if err != nil {
		return Packed{}, err
	}
	if err := m.Validate(); err != nil {
		return Packed{}, err
	}
	sum := sha256.New()
	out := &countWriter{w: io.MultiWriter(w, sum)}
	if err := write(out, m, files); err != nil {
		return Packed{}, err
	}
	return Packed{Manifest: m, Digest: "sha256:" + hex.EncodeToString(sum.Sum(nil)), Size: out.n}, nil
}

// seal gives a copy of m with the hash and size of every file.
func seal(m Manifest, files fs.FS) (Manifest, error) {
	m.Modules = slices.Clone(m.Modules)
	m.Migrations = slices.Clone(m.Migrations)
	m.Seeds = slices.Clone(m.Seeds)
	m.CompatibilityFlags = append([]string{}, m.CompatibilityFlags...) // [], never null
	var errs []error
	measure := func(path string, hash *string, size *int64) {
		var err error
		if *hash, *size, err = hashFile(files, path); err != nil {
			errs = append(errs, err)
		}
	}
	for i := range m.Modules {
		mod := &m.Modules[i]
		measure(ModulePath(mod.Name), &mod.SHA256, &mod.Size)
	}
	measureAll := func(files []File) []File {
		files = append([]File{}, files...)
		for i := range files {
			measure(files[i].Path, &files[i].SHA256, &files[i].Size)
		}
		return files
	}
	for i := range m.Seeds {
		m.Seeds[i].Files = measureAll(m.Seeds[i].Files)
	}
	for i := range m.Migrations {
		m.Migrations[i].Files = measureAll(m.Migrations[i].Files)
	}
	if len(m.SourceMaps) > 0 {
		m.SourceMaps = measureAll(m.SourceMaps)
	}
	return m, errors.Join(errs...)
}

func hashFile(files fs.FS, path string) (hash string, size int64, err error) {
	f, err := files.Open(path)
	if err != nil {
		return "", 0, fmt.Errorf("reading a file of the bundle: %w", err)
	}
	defer f.Close()
	sum := sha256.New()
	if size, err = io.Copy(sum, f); err != nil {
		return "", 0, fmt.Errorf("reading %s: %w", path, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), size, nil
}

func write(w io.Writer, m Manifest, files fs.FS) error {
	manifest, err := m.Encode()
	if err != nil {
		return err
	}
	// One goroutine and a fixed window keep the bytes the same on every machine.
	enc, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(maxWindow), zstd.WithEncoderLevel(zstd.SpeedDefault))
	if err != nil {
		return fmt.Errorf("starting zstd: %w", err)
	}
	tw := tar.NewWriter(enc)
	err = writeFile(tw, File{Path: manifestFile, Size: int64(len(manifest))}, Tree{manifestFile: manifest})
	list := m.Files()
	slices.SortFunc(list, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	for i := 0; err == nil && i < len(list); i++ {
		err = writeFile(tw, list[i], files)
	}
	// After a failure the encoder is closed as well: it holds buffers.
	if closeErr := errors.Join(tw.Close(), enc.Close()); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("packing the bundle: %w", err)
	}
	return nil
}

// writeFile adds one file, and makes sure that it still is what was hashed.
func writeFile(tw *tar.Writer, f File, files fs.FS) error {
	header := &tar.Header{
		Typeflag: tar.TypeReg, Name: f.Path, Size: f.Size, Mode: fileMode, ModTime: time.Unix(0, 0),
	}
	if !isASCII(f.Path) {
		header.Format = tar.FormatPAX
	}
	if err := tw.WriteHeader(header); err != nil {
		return err
	}
	src, err := files.Open(f.Path)
	if err != nil {
		return err
	}
	defer src.Close()
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(tw, sum), src); err != nil {
		return err
	}
	if f.SHA256 != "" && f.SHA256 != hex.EncodeToString(sum.Sum(nil)) {
		return fmt.Errorf("%s changed while it was packed", f.Path)
	}
	return nil
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > 127 })
}

type countWriter struct {
	w io.Writer
	n int64
}

func (c *countWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
