package bundle

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/svcctl/svcctl/internal/svc"
)

// The codes of this package's errors.
const (
	codeTruncated  = "bundle_truncated"
	codeFormat     = "bundle_format"
	codePath       = "bundle_path"
	codeTooLarge   = "bundle_too_large"
	codeMismatch   = "bundle_mismatch"
	codeManifest   = "manifest_invalid"
	codeVersion    = "manifest_version"
	codeModuleType = "module_type_unknown"
)

func refuse(code, format string, args ...any) *svc.Error {
	return svc.Errorf(svc.Unprocessable, code, format, args...)
}

func tooLarge(format string, args ...any) *svc.Error {
	return svc.Errorf(svc.TooLarge, codeTooLarge, format, args...)
}

// readError says what a failed read of the archive means.
func readError(err error) error {
	var known *svc.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("reading the bundle: %w", err)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return refuse(codeTruncated, "the bundle ends in the middle").WithHint("upload it again").Because(err)
	}
	return refuse(codeFormat, "the bundle is not a readable tar.zst or tar.gz").
		WithHint("write one with svcctl bundle, or see docs/design/bundle-format.md").Because(err)
}
