package remote

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/pkg/client"
)

// Download writes a value or an object into a new file that only the person may read; the
// message is a state.Downloaded. A download that fails leaves no file.
func (r *Remote) Download(d state.Download) tea.Cmd {
	return func() tea.Msg {
		body, err := r.content(r.ctx, d)
		if err != nil {
			return state.Downloaded{Download: d, Err: err}
		}
		n, err := store(d.Path, body)
		return state.Downloaded{Download: d, Bytes: n, Err: errors.Join(err, body.Close())}
	}
}

// content opens what is downloaded. An object may be large: only the end of the interface
// ends its download.
func (r *Remote) content(ctx context.Context, d state.Download) (io.ReadCloser, error) {
	if d.Object {
		_, body, err := r.c.GetObject(ctx, client.R2{Project: d.Project, Version: d.Version, Binding: d.Binding}, d.Key)
		return body, err
	}
	v, err := r.c.GetValue(ctx, client.KV{Project: d.Project, Version: d.Version, Binding: d.Binding}, d.Key)
	return io.NopCloser(bytes.NewReader(v.Data)), err
}

// store writes a new file, and removes it again after an error.
func store(path string, body io.Reader) (int64, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(f, body)
	if err = errors.Join(err, f.Close()); err != nil {
		err = errors.Join(err, os.Remove(path))
	}
	return n, err
}
