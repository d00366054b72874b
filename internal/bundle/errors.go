package bundle

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/svcctl/svcctl/internal/svc"
)

func refuse(code, format string, args ...any) *svc.Error {
	return svc.Errorf(svc.Unprocessable, code, format, args...)
}

func tooLarge(format string, args ...any) *svc.Error {
	return svc.Errorf(svc.TooLarge, svc.CodeBundleTooLarge, format, args...)
}

// readError turns a failed read of the archive into an error for users.
func readError(err error) error {
	var known *svc.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("read bundle: %w", err)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return refuse(svc.CodeBundleTruncated, "the bundle is truncated").WithHint("upload it again").Because(err)
	}
	return refuse(svc.CodeBundleFormat, "the bundle is not a readable tar.zst or tar.gz").
		WithHint("write one with svcctl bundle, or see docs/design/bundle-format.md").Because(err)
}
