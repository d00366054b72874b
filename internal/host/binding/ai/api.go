package ai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	maxInputs = 32 << 20 // bytes of a call
	maxAnswer = 32 << 20 // bytes of an answer that is not a stream
	maxReason = 4 << 10  // bytes of an error of the API

	badRequest = http.StatusBadRequest
)

// api is the Instance of all AI bindings of a version.
type api struct {
	backend svc.AIBackend
	client  *http.Client
}

// call is what client.js sends.
type call struct {
	Model  string                     `json:"model"`
	Inputs map[string]json.RawMessage `json:"inputs"`
}

// failure is an error that the worker sees.
type failure struct {
	status  int
	message string
}

func (f *failure) Error() string { return f.message }

func failf(status int, format string, args ...any) error {
	return &failure{status, fmt.Sprintf(format, args...)}
}

// ServeHTTP answers one call of run.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	err := a.serve(w, r)
	if err == nil {
		return
	}
	_, _ = io.Copy(io.Discard, r.Body)
	f := &failure{http.StatusBadGateway, err.Error()}
	_ = errors.As(err, &f)
	body, _ := json.Marshal(map[string]string{"message": a.clean(f.message)}) // texts can be encoded
	w.Header()["Content-Type"] = []string{"application/json"}
	w.WriteHeader(f.status)
	_, _ = w.Write(body) // a lost connection is workerd's to report
}

// clean keeps the key out of a text: an API may repeat what it was sent.
func (a *api) clean(text string) string {
	if a.backend.Key == "" {
		return text
	}
	return strings.ReplaceAll(text, a.backend.Key, "[redacted]")
}

// Close ends idle connections.
func (a *api) Close() error {
	a.client.CloseIdleConnections()
	return nil
}

func (a *api) serve(w http.ResponseWriter, r *http.Request) error {
	var large binding.Large
	defer large.Release()
	body, err := large.ReadBody(r, maxInputs)
	if err != nil {
		return err
	}
	if len(body) > maxInputs {
		return failf(http.StatusRequestEntityTooLarge, "the inputs exceed %d MiB", maxInputs>>20)
	}
	var c call
	if err := json.Unmarshal(body, &c); err != nil {
		return failf(badRequest, "the inputs of %q are no object", c.Model)
	}
	if a.backend.URL == "" {
		return failf(http.StatusServiceUnavailable, "this server has no AI: its operator can set SVC_AI_URL")
	}
	what, err := taskOf(c.Model, c.Inputs)
	if err != nil {
		return err
	}
	model, ok := a.backend.Model(c.Model)
	switch {
	case !ok:
		return failf(badRequest, "the server has no model for %q: its operator can add one to SVC_AI_MODELS", c.Model)
	case what == embed:
		return a.embed(w, r, model, c.Inputs)
	default:
		return a.generate(w, r, model, c.Inputs)
	}
}

// post sends the API a request. The caller closes the body of the response.
func (a *api) post(ctx context.Context, path string, body any) (*http.Response, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, failf(badRequest, "the inputs are not valid: %v", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.backend.URL+path, bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("making a request to the AI endpoint: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	if a.backend.Key != "" {
		r.Header.Set("Authorization", "Bearer "+a.backend.Key)
	}
	resp, err := a.client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("the AI endpoint is not reachable: %w", errors.Unwrap(err)) // without its address
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, failf(statusOf(resp.StatusCode), "the AI endpoint answered %d: %s", resp.StatusCode, reason(resp.Body))
}

// statusOf passes on the statuses that a worker can act on.
func statusOf(status int) int {
	switch status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return status
	}
	return http.StatusBadGateway
}

// reason is the message of an error of the API.
func reason(body io.Reader) string {
	text, _ := io.ReadAll(io.LimitReader(body, maxReason)) // what there is of it
	var e struct {
		Error json.RawMessage `json:"error"`
	}
	var message struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(text, &e) == nil && json.Unmarshal(e.Error, &message) == nil && message.Message != "" {
		return message.Message
	}
	return strings.TrimSpace(string(text))
}

// answer posts a request and decodes the answer into v.
func (a *api) answer(ctx context.Context, path string, body, v any) error {
	resp, err := a.post(ctx, path, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(v); err != nil {
		return fmt.Errorf("reading the answer of the AI endpoint: %w", err)
	}
	return nil
}
