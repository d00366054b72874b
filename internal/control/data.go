package control

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/svcctl/svcctl/internal/svc"
)

// DataSocket is the file in a version's run directory where its host serves the
// version's data to the daemon, over HTTP. A refusal is an answer of the type
// below, which WriteError writes and ReadError reads.
const DataSocket = "data.sock"

const (
	errorType = "application/vnd.svcctl.error+json"
	maxError  = 1 << 20 // bytes
)

// WriteError answers with err as an svc.Error.
func WriteError(w http.ResponseWriter, err error) error {
	body, err := json.Marshal(toFailure(err))
	if err != nil {
		return fmt.Errorf("encoding an error: %w", err)
	}
	w.Header().Set("Content-Type", errorType)
	w.WriteHeader(http.StatusInternalServerError) // whoever reads it looks at the type
	_, err = w.Write(body)
	return err
}

// ReadError is the error that an answer holds, if it is one; then its body is
// closed.
func ReadError(resp *http.Response) error {
	if resp.Header.Get("Content-Type") != errorType {
		return nil
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxError))
	if err != nil {
		return closedErr(err)
	}
	var f failure
	if err := json.Unmarshal(body, &f); err != nil {
		return svc.Errorf(svc.Internal, "internal", "an internal error").Because(err)
	}
	return f.err()
}
