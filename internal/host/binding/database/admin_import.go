package database

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

// importFile imports the script or SQLite file that is the body of a request. It
// is one transaction, which begins once all of the body is here: writes wait for
// it, reads do not. It takes the time it takes.
func (a admin) importFile(w http.ResponseWriter, r *http.Request) error {
	d, err := a.named(r.URL.Query().Get("binding"))
	if err != nil {
		return err
	}
	file, err := d.receive(r.Body)
	if err != nil {
		return err
	}
	defer os.Remove(file) // so does opening the version again
	started := time.Now()
	n, err := d.importing(r.Context(), file)
	if err != nil {
		return ended(r, err)
	}
	return binding.WriteJSON(w, map[string]any{"tables": n.tables, "rows": n.rows, "seconds": time.Since(started).Seconds()})
}

// receive keeps body in a file.
func (d *database) receive(body io.Reader) (path string, err error) {
	f, err := d.temp()
	if err != nil {
		return "", err
	}
	read := &noting{r: body}
	n, err := io.Copy(f, read)
	switch {
	case read.err != nil:
		err = svc.Errorf(svc.BadRequest, svc.CodeBodyIncomplete, "the body ended early").Because(read.err)
	case err == nil && n == 0:
		err = svc.Errorf(svc.BadRequest, svc.CodeBodyRequired, "there is nothing to import in an empty body")
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// noting remembers why reading failed, to tell it from a failure to write.
type noting struct {
	r   io.Reader
	err error
}

func (n *noting) Read(p []byte) (int, error) {
	k, err := n.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		n.err = err
	}
	return k, err
}

func (d *database) importing(ctx context.Context, file string) (n counts, err error) {
	turn, cancel := context.WithTimeout(ctx, maxDuration)
	defer cancel()
	leave, err := d.enter(turn)
	if err != nil {
		return n, err
	}
	defer leave()
	src, err := openImport(ctx, file)
	if err == nil {
		defer src.close()
		n, err = d.take(ctx, src, func(*raw.Conn) (bool, error) { return true, nil })
	}
	if text, ok := explainImport(err); ok {
		err = svc.Errorf(svc.Unprocessable, svc.CodeSQLError, "%s", text).WithHint("nothing of it was imported")
	}
	return n, err
}
