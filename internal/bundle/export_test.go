package bundle

import (
	"context"
	"io"
)

// Check reads a bundle to its end and reports what Extract would, without files.
func Check(ctx context.Context, r io.Reader, limits Limits) (Manifest, error) {
	return unpack(ctx, r, limits, func(string) (io.WriteCloser, error) { return discard{io.Discard}, nil })
}

type discard struct{ io.Writer }

func (discard) Close() error { return nil }
