package bundle

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/svcctl/svcctl/internal/svc"
)

const maxReported = 20

// compare reports all files that are missing, different or not listed.
func compare(want []File, got map[string]File) error {
	var wrong []svc.FieldError
	add := func(path, format string, args ...any) {
		wrong = append(wrong, svc.FieldError{Pointer: "/" + path, Code: svc.CodeBundleMismatch, Detail: fmt.Sprintf(format, args...)})
	}
	listed := make(map[string]bool, len(want))
	for _, w := range want {
		listed[w.Path] = true
		g, ok := got[w.Path]
		switch {
		case !ok:
			add(w.Path, "%q is in the manifest but not in the bundle", w.Path)
		case g.Size != w.Size:
			add(w.Path, "%q has %d bytes; the manifest says %d", w.Path, g.Size, w.Size)
		case g.SHA256 != w.SHA256:
			add(w.Path, "%q has the sha256 %s; the manifest says %s", w.Path, g.SHA256, w.SHA256)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(got)) {
		if !listed[path] {
			add(path, "%q is in the bundle but not in the manifest", path)
		}
	}
	if len(wrong) > maxReported {
		wrong = wrong[:maxReported]
	}
	return svc.Invalid(wrong)
}

// archiveReader marks errors of the archive, to distinguish them from errors of
// the disk that the files are written to.
type archiveReader struct{ r io.Reader }

func (a *archiveReader) Read(p []byte) (int, error) {
	n, err := a.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &archiveError{err}
	}
	return n, err
}

type archiveError struct{ err error }

func (e *archiveError) Error() string { return e.err.Error() }
func (e *archiveError) Unwrap() error { return e.err }

func unpackError(name string, err error) error {
	if archive, ok := errors.AsType[*archiveError](err); ok {
		return readError(archive.err)
	}
	return fmt.Errorf("unpack %s: %w", name, err)
}
