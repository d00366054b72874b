package bundle

import (
	"bytes"
	"encoding/json"
)

// SameWorker reports whether two manifests differ in static files, their rules and the settings of
// releases at most. The worker of one is that of the other, its bindings included.
func SameWorker(a, b Manifest) bool {
	if (a.Assets == nil) != (b.Assets == nil) || a.Assets != nil && a.Assets.Binding != b.Assets.Binding {
		return false
	}
	a.Assets, b.Assets = nil, nil
	a.Release, b.Release = nil, nil
	one, err := json.Marshal(a)
	if err != nil {
		return false
	}
	other, err := json.Marshal(b)
	return err == nil && bytes.Equal(one, other)
}
