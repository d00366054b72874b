package dev

import (
	"context"
	"fmt"
	"os"

	"github.com/svcctl/svcctl/pkg/api"
)

// base is what the first version of a session begins with.
type base struct {
	version string       // "" for no data
	reuse   *api.Version // serves already, if the bundle is the same
	text    string       // for people
}

// first finds the data to begin with: that of the last session, unless the user chose
// otherwise.
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
	v, err := w.server.Client.Version(ctx, w.project, current.data())
	if err != nil {
		return base{text: fmt.Sprintf("new (save %d is not on the server: %v)", current.N, err)}
	}
	if v.Status != api.VersionStatusReady && v.Status != api.VersionStatusArchived {
		return base{text: fmt.Sprintf("new (save %d is %s)", current.N, v.Status)}
	}
	b := base{version: v.ID, text: fmt.Sprintf("of save %d, %s", current.N, current.At.Format("2 Jan 15:04:05"))}
	if v.Status == api.VersionStatusReady && w.server.Own && v.ID == current.Version { // elsewhere, the overrides may differ
		b.reuse = &v
	}
	return b
}

func makeDir(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return fmt.Errorf("creating a directory of watch mode: %w", err)
	}
	return nil
}
