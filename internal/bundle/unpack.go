package bundle

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// create makes a new file at a valid path.
type create func(path string) (io.WriteCloser, error)

// unpacker holds the state of unpacking one bundle.
type unpacker struct {
	limits  Limits
	create  create
	seen    map[string]File
	entries int // assets not counted
	assets  int
	modules int64 // bytes so far
	total   int64

	manifest bytes.Buffer
}

func unpack(ctx context.Context, r io.Reader, limits Limits, to create) (Manifest, error) {
	limits = limits.orDefault()
	plain, err := decompress(ctx, r, limits.stream())
	if err != nil {
		return Manifest{}, err
	}
	defer plain.Close()
	u := &unpacker{limits: limits, create: to, seen: map[string]File{}}
	if err := u.entriesOf(tar.NewReader(plain)); err != nil {
		return Manifest{}, err
	}
	if err := checkTail(plain); err != nil {
		return Manifest{}, err
	}
	return u.finish()
}

func (u *unpacker) entriesOf(tr *tar.Reader) error {
	for {
		header, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return readError(err)
		}
		if err := u.entry(header, tr); err != nil {
			return err
		}
	}
}

func (u *unpacker) entry(header *tar.Header, body io.Reader) error {
	isDir := header.Typeflag == tar.TypeDir
	// `tar -C dir .` prefixes every name with "./".
	name := strings.TrimPrefix(header.Name, "./")
	if isDir {
		if name = strings.TrimSuffix(name, "/"); name == "" || name == "." {
			return nil
		}
	}
	if err := u.count(name); err != nil {
		return err
	}
	if why := badPath(name); why != "" {
		return refuse(svc.CodeBundlePath, "the path %q in the bundle %s", header.Name, why)
	}
	switch {
	case isDir:
		return nil
	case header.Typeflag != tar.TypeReg:
		return refuse(svc.CodeBundlePath, "%q in the bundle is %s; only plain files are allowed", name, kindOf(header.Typeflag))
	}
	return u.file(name, header.Size, body)
}

// count counts an entry. Assets are counted by themselves, so that the limit is that of
// a site.
func (u *unpacker) count(name string) error {
	n, what := &u.entries, "files"
	if strings.HasPrefix(name, assetsDir) {
		n, what = &u.assets, "assets"
	}
	if *n++; *n > u.limits.Files {
		return tooLarge("%q exceeds the limit: the bundle has more than %d %s", name, u.limits.Files, what)
	}
	return nil
}

func kindOf(flag byte) string {
	switch flag {
	case tar.TypeSymlink:
		return "a symbolic link"
	case tar.TypeLink:
		return "a hard link"
	case tar.TypeChar, tar.TypeBlock:
		return "a device"
	case tar.TypeFifo:
		return "a named pipe"
	}
	return fmt.Sprintf("an entry of type %q", string(rune(flag)))
}

func (u *unpacker) file(name string, size int64, body io.Reader) error {
	if _, twice := u.seen[name]; twice {
		return refuse(svc.CodeBundlePath, "the bundle has %q twice", name)
	}
	if err := u.account(name, size); err != nil {
		return err
	}
	dst, err := u.create(name)
	if err != nil {
		if errors.Is(err, fs.ErrExist) {
			return refuse(svc.CodeBundlePath, "the bundle has %q twice, in different case or form", name).Because(err)
		}
		return fmt.Errorf("unpack %s: %w", name, err)
	}
	sum := sha256.New()
	writers := []io.Writer{dst, sum}
	if name == manifestFile {
		writers = append(writers, &u.manifest)
	}
	n, err := io.Copy(io.MultiWriter(writers...), &archiveReader{r: body})
	closeErr := dst.Close()
	switch {
	case err != nil:
		return unpackError(name, err)
	case closeErr != nil:
		return fmt.Errorf("unpack %s: %w", name, closeErr)
	}
	u.seen[name] = File{Path: name, SHA256: hex.EncodeToString(sum.Sum(nil)), Size: n}
	return nil
}

// account checks a file against the limits [D42] before it is read: the tar reader
// never yields more bytes than the header says.
func (u *unpacker) account(name string, size int64) error {
	l := u.limits
	switch {
	case size > l.Total-u.total:
		return tooLarge("the bundle unpacks to more than %s", mebibytes(l.Total))
	case name == manifestFile && size > maxManifest:
		return tooLarge("manifest.json is larger than %s", mebibytes(maxManifest))
	case strings.HasPrefix(name, assetsDir) && size > l.Asset:
		return tooLarge("the asset %q is larger than %s", name, mebibytes(l.Asset))
	}
	u.total += size
	if strings.HasPrefix(name, modulesDir) {
		u.modules += size
	}
	if u.modules > l.Modules {
		return tooLarge("the modules together are larger than %s", mebibytes(l.Modules)).
			WithHint("set minify, or remove large files from the worker")
	}
	return nil
}

func mebibytes(n int64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}

// finish compares the unpacked files with the manifest.
func (u *unpacker) finish() (Manifest, error) {
	if _, ok := u.seen[manifestFile]; !ok {
		return Manifest{}, refuse(svc.CodeBundleMismatch, "the bundle has no manifest.json")
	}
	delete(u.seen, manifestFile)
	m, err := Decode(u.manifest.Bytes())
	if err != nil {
		return Manifest{}, err
	}
	if err := compare(m.packed(), u.seen); err != nil || !m.detached() {
		return m, err
	}
	return m, u.detached(m.Assets.Files)
}

// detached checks assets that are not in the bundle against the limits.
func (u *unpacker) detached(files []File) error {
	for _, f := range files {
		if err := u.count(f.Path); err != nil {
			return err
		}
		if err := u.account(f.Path, f.Size); err != nil {
			return err
		}
	}
	return nil
}

// CheckAssets checks a list of assets that a client announces: their paths, hashes and
// sizes, and the limits. Errors are Unprocessable or TooLarge and name the file.
func CheckAssets(files []File, limits Limits) error {
	var p problems
	for i, f := range files {
		p.file("/files/"+strconv.Itoa(i), f, assetsDir)
	}
	if err := svc.Invalid(p); err != nil {
		return err
	}
	u := &unpacker{limits: limits.orDefault()}
	return u.detached(files)
}

// checkTail reads the input after the archive, which may only be zero padding.
// Reading to the end also finds a truncated stream and a wrong checksum.
func checkTail(r io.Reader) error {
	buf := make([]byte, 32<<10)
	for read := 0; ; {
		n, err := r.Read(buf)
		if read += n; read > maxTail {
			return refuse(svc.CodeBundleFormat, "the archive is followed by more than padding")
		}
		for _, b := range buf[:n] {
			if b != 0 {
				return refuse(svc.CodeBundleFormat, "the archive is followed by other data")
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return readError(err)
		}
	}
}
