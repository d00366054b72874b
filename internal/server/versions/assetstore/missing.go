package assetstore

import (
	"slices"
	"strconv"
	"sync"

	"github.com/svcctl/svcctl/internal/svc"
)

// missing collects the paths of files that the object store does not have. The zero
// value is empty.
type missing struct {
	mu    sync.Mutex
	paths []string
}

func (m *missing) add(path string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.paths = append(m.paths, path)
}

// err names the first file; nil for none.
func (m *missing) err() error {
	if len(m.paths) == 0 {
		return nil
	}
	more := ""
	if n := len(m.paths) - 1; n > 0 {
		more = " and " + strconv.Itoa(n) + " more"
	}
	return svc.Errorf(svc.Unprocessable, svc.CodeAssetMissing, "the object store does not have the asset %q%s", slices.Min(m.paths), more).
		WithHint("upload the assets before the bundle: svcctl deploy does")
}
