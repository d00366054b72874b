package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/svcctl/svcctl/internal/svc"
)

// ErrClosed reports that the line has ended.
var ErrClosed = errors.New("the control line is closed")

const (
	errorType = "application/vnd.svcctl.error+json" // of the body of an answer that is an error
	maxError  = 1 << 20                             // bytes
)

// failure is a svc.Error on the wire. Its cause travels as text, for logs.
type failure struct {
	svc.Error

	Err string `json:",omitempty"` // hides the cause itself
}

// WriteError answers with err as an svc.Error.
func WriteError(w http.ResponseWriter, err error) error {
	f := failure{Error: *svc.AsError(err)}
	if f.Error.Err != nil {
		f.Err = f.Error.Err.Error()
	}
	body, err := json.Marshal(f) //nolint:musttag // ReadError alone reads it
	if err != nil {
		return fmt.Errorf("encoding an error: %w", err)
	}
	w.Header().Set("Content-Type", errorType)
	w.WriteHeader(http.StatusInternalServerError) // ReadError looks at the type only
	_, err = w.Write(body)
	return err
}

// ReadError is the error that an answer holds, or nil. With an error, the answer's
// body is closed.
func ReadError(resp *http.Response) error {
	if resp.Header.Get("Content-Type") != errorType {
		return nil
	}
	defer resp.Body.Close()
	var f failure
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxError)).Decode(&f); err != nil { //nolint:musttag // WriteError wrote it
		return fmt.Errorf("reading an error of the runtime: %w", err)
	}
	if f.Err != "" {
		f.Error.Err = errors.New(f.Err)
	}
	return &f.Error
}
