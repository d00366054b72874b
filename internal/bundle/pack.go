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

// Pack writes the bundle of m to w. It reads the files that m lists from files, at
// their paths in the bundle, and fills in their hashes and sizes. Equal input gives
// equal bytes: names are sorted, times and owners are zero. Detached assets are hashed
// and not written. Pack does not close w.
func Pack(w io.Writer, m Manifest, files fs.FS) (Packed, error) {
	m.SchemaVersion = SchemaVersion
	m, err := measure(m, files)
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

// measure returns a copy of m with the hash and size of every file.
func measure(m Manifest, files fs.FS) (Manifest, error) {
	m.Modules = append([]Module{}, m.Modules...) // [], never null
	m.Migrations = slices.Clone(m.Migrations)
	m.Seeds = slices.Clone(m.Seeds)
	m.CompatibilityFlags = append([]string{}, m.CompatibilityFlags...) // [], never null
	var errs []error
	add := func(path string, hash *string, size *int64) {
		var err error
		if *hash, *size, err = hashFile(files, path); err != nil {
			errs = append(errs, err)
		}
	}
	for i := range m.Modules {
		mod := &m.Modules[i]
		add(ModulePath(mod.Name), &mod.SHA256, &mod.Size)
	}
	addAll := func(files []File) []File {
		files = append([]File{}, files...)
		for i := range files {
			add(files[i].Path, &files[i].SHA256, &files[i].Size)
		}
		return files
	}
	for i := range m.Seeds {
		m.Seeds[i].Files = addAll(m.Seeds[i].Files)
	}
	for i := range m.Migrations {
		m.Migrations[i].Files = addAll(m.Migrations[i].Files)
	}
	if len(m.SourceMaps) > 0 {
		m.SourceMaps = addAll(m.SourceMaps)
	}
	if m.Assets != nil {
		assets := *m.Assets
		assets.Files = addAll(assets.Files)
		m.Assets = &assets
	}
	return m, errors.Join(errs...)
}

func hashFile(files fs.FS, path string) (hash string, size int64, err error) {
	f, err := files.Open(path)
	if err != nil {
		return "", 0, fmt.Errorf("read file of the bundle: %w", err)
	}
	defer f.Close()
	sum := sha256.New()
	if size, err = io.Copy(sum, f); err != nil {
		return "", 0, fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), size, nil
}

func write(w io.Writer, m Manifest, files fs.FS) error {
	manifest, err := m.Encode()
	if err != nil {
		return err
	}
	list := m.packed()
	// One goroutine and a window that follows from the files keep the bytes the same on every machine.
	enc, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window(int64(len(manifest)), list)), zstd.WithEncoderLevel(zstd.SpeedDefault))
	if err != nil {
		return fmt.Errorf("start zstd: %w", err)
	}
	tw := tar.NewWriter(enc)
	err = writeFile(tw, File{Path: manifestFile, Size: int64(len(manifest))}, Tree{manifestFile: manifest})
	slices.SortFunc(list, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	for i := 0; err == nil && i < len(list); i++ {
		err = writeFile(tw, list[i], files)
	}
	// Close the encoder after a failure too: it holds buffers.
	if closeErr := errors.Join(tw.Close(), enc.Close()); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("pack bundle: %w", err)
	}
	return nil
}

// window is the size of zstd's window for the files and a manifest of some bytes: the smallest
// that holds all of them. Both sides allocate a window before the first byte, and the one of
// 8 MiB took most of the time of packing a small worker.
func window(size int64, files []File) int {
	for _, f := range files {
		size += f.Size + tarOverhead
	}
	w := minWindow
	for w < maxWindow && int64(w) < size {
		w *= 2
	}
	return w
}

// tarOverhead is what the archive has for a file beside its content, at least.
const tarOverhead = 1 << 10

// writeFile adds one file. It fails when the file changed since it was hashed.
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
		return fmt.Errorf("%s changed while the bundle was packed", f.Path)
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
