package dev

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/svcctl/svcctl/pkg/api"
)

// base is what the first version of a session begins with.
type base struct {
	version string       // "" for no data
	reuse   *api.Version // serves already, if the bundle is the same
	text    string       // for people
}

// first finds the data to begin with: that of the newest save that the server has, unless
// the user chose otherwise.
func (w *worker) first(ctx context.Context) base {
	current := w.state.current()
	switch {
	case w.cfg.Fresh:
		return base{text: "new"}
	case w.cfg.Parent != "":
		return base{version: w.cfg.Parent, text: "branch of " + w.cfg.Parent}
	case current == nil:
		return base{text: "new"}
	}
	for i, save := range slices.Backward(w.state.Saves) {
		v, err := w.server.Client.Version(ctx, w.project, save.data())
		if err != nil || v.Status != api.VersionStatusReady && v.Status != api.VersionStatusArchived {
			continue // lost with the power, or destroyed
		}
		b := base{version: v.ID, text: fmt.Sprintf("of save %d, %s", save.N, save.At.Format("2 Jan 15:04:05"))}
		newest := i == len(w.state.Saves)-1
		if newest && v.Status == api.VersionStatusReady && w.server.Own && v.ID == save.Version { // elsewhere, the overrides may differ
			b.reuse = &v
		}
		return b
	}
	return base{text: fmt.Sprintf("new (the server has none of the saves up to %d)", current.N)}
}

func makeDir(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return fmt.Errorf("creating a directory of watch mode: %w", err)
	}
	return nil
}
