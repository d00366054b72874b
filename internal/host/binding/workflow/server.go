package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
)

// maxBody bounds a request of the engine: a batch of instances with large params.
const maxBody = 100 * 2 << 20

// request is what api.js and engine.js send.
type request struct {
	ID        string          `json:"id"`
	Instances []newInstance   `json:"instances"`
	From      *position       `json:"from"`
	Type      string          `json:"type"`
	Payload   json.RawMessage `json:"payload"`

	Drive   string   `json:"drive"`
	Records []record `json:"records"`
	Key     string   `json:"key"`
}

// ServeHTTP answers the engine in workerd.
func (e *engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, err := e.serve(r)
	_, _ = io.Copy(io.Discard, r.Body)
	if err != nil {
		fail(w, err)
		return
	}
	body, err := json.Marshal(answer)
	if err != nil {
		fail(w, err)
		return
	}
	binding.Reply(w, "application/json", body)
}

// fail answers with the error that the worker sees.
func fail(w http.ResponseWriter, err error) {
	refused := &refusal{Name: "WorkflowInternalError", Message: err.Error()}
	status := http.StatusInternalServerError
	if errors.As(err, &refused) {
		status = http.StatusBadRequest
	}
	body, _ := json.Marshal(refused) // two strings always encode
	w.Header()["Content-Type"] = []string{"application/json"}
	w.WriteHeader(status)
	_, _ = w.Write(body) // a lost connection is workerd's to report
}

func (e *engine) serve(r *http.Request) (any, error) {
	var large binding.Large
	defer large.Release()
	body, err := large.ReadBody(r, maxBody)
	if err != nil {
		return nil, err
	}
	var q request
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, &refusal{Name: "Error", Message: "read a request: " + err.Error()}
	}
	ctx, none := r.Context(), struct{}{}
	switch r.URL.Path {
	case "/create":
		created, errs, err := e.create(ctx, q.Instances)
		return map[string]any{"created": orEmpty(created), "errors": orEmpty(errs)}, err
	case "/exists":
		_, err := e.status(ctx, q.ID)
		return none, err
	case "/status":
		return first(e.status(ctx, q.ID))
	case "/event":
		return none, e.sendEvent(ctx, q.ID, q.Type, q.Payload)
	case "/pause":
		return none, e.pause(ctx, q.ID)
	case "/resume":
		return none, e.resume(ctx, q.ID)
	case "/terminate":
		return none, e.terminate(ctx, q.ID)
	case "/restart":
		return none, e.restart(ctx, q.ID, q.From)
	case "/delete":
		err := e.remove(ctx, q.ID)
		if refused := new(refusal); errors.As(err, &refused) && refused.kind == notFound {
			err = refuse(notFound, "instance.not_found", "Instance does not exist")
		}
		return none, err
	}
	return e.serveDrive(volume.ByPlatform(ctx), r.URL.Path, q) // what a run has done is recorded in any case
}

func first[T any](v T, err error) (any, error) { return v, err }

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// serveDrive answers a run.
func (e *engine) serveDrive(ctx context.Context, path string, q request) (any, error) {
	d := e.find(q.Drive)
	if d == nil {
		return nil, errOver
	}
	switch path {
	case "/save":
		if len(q.Records) == 0 {
			return stored{}, nil
		}
		return first(d.save(ctx, q.Records))
	case "/wait":
		return first(d.awaitStep(ctx, q.Key))
	case "/value":
		return first(d.read(ctx, q.Key))
	}
	return nil, &refusal{Name: "Error", Message: "unknown path " + path}
}

// awaitStep answers when a step does not wait any more, or the run is to stop.
func (d *drive) awaitStep(ctx context.Context, key string) (s stored, err error) {
	for {
		changed, stop := d.watch()
		if s, err = d.read(ctx, key); err != nil || s.State != stepWaiting || stop {
			s.Stop = stop
			return s, err
		}
		if wait := s.Due - now(); wait > 0 {
			if err := sleep(ctx, d.ctx, changed, time.Duration(wait)*time.Millisecond); err != nil {
				return s, err
			}
			continue
		}
		err := d.engine.db.Write(ctx, func(c *raw.Conn) error {
			if d.over {
				return errOver
			}
			return wakeSteps(c, d.instance)
		})
		if err != nil {
			return s, err
		}
	}
}

// sleep waits for the time, a change, or the end of the request or the run.
func sleep(ctx, run context.Context, changed <-chan struct{}, wait time.Duration) error {
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
	case <-changed:
	case <-run.Done():
		return errOver
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// read reads a step.
func (d *drive) read(ctx context.Context, key string) (s stored, err error) {
	err = d.engine.db.Read(ctx, func(c *raw.Conn) error {
		return c.Query(`SELECT state, due, value, error FROM step WHERE instance = ?1 AND key = ?2`, []any{d.instance, key}, func(row *raw.Stmt) error {
			s = stored{State: row.Text(0), Due: row.Int64(1), Value: json.RawMessage(row.Text(2)), Error: json.RawMessage(row.Text(3))}
			return nil
		})
	})
	if err == nil && s.State == "" {
		err = errOver
	}
	return s, err
}
