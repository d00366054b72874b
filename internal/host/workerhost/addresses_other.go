//go:build !linux

package workerhost

import (
	"errors"
	"os"
)

// addressChanges is not available here: a change of addresses takes effect at the next start.
func addressChanges() (*os.File, error) { return nil, errors.ErrUnsupported }
