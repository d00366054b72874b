package evaluate

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

//go:embed evaluator.js
var evaluator string

// A config may take this long and this much memory.
const (
	startLimit = 30 * time.Second // of workerd, on a busy machine
	timeLimit  = 5 * time.Second
	heapMB     = 128
	mostBytes  = 4 << 20 // of an answer
)

// answer is that of the evaluator.
type answer struct {
	Worker     json.RawMessage `json:"worker"`
	Tooling    json.RawMessage `json:"tooling"`
	Own        json.RawMessage `json:"own"`
	Containers int             `json:"containers"`

	Name    string `json:"name"` // of an exception
	Message string `json:"message"`
	Stack   string `json:"stack"`
	File    string `json:"file"` // which file the exception is about: config, tooling; "" for what the stack says
}

// run evaluates the module in a process of its own.
func (b *bundled) run(ctx context.Context, engine string, req Request) (a answer, err error) {
	dir, err := os.MkdirTemp("", "svcctl-config-")
	if err != nil {
		return a, fmt.Errorf("evaluating %s: %w", b.name, err)
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{"evaluator.js": evaluator, "config.js": string(b.source), "config.capnp": config(filepath.Join(dir, "s"))} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return a, fmt.Errorf("evaluating %s: %w", b.name, err)
		}
	}
	p, err := start(ctx, engine, filepath.Join(dir, "config.capnp"))
	if err != nil {
		return a, fmt.Errorf("evaluating %s: %w", b.name, err)
	}
	defer p.stop()
	if err := p.listens(ctx); err != nil {
		return a, b.ended(p, err)
	}
	body, status, err := ask(ctx, filepath.Join(dir, "s"), question(req))
	if err != nil {
		return a, b.ended(p, err)
	}
	if err := json.Unmarshal(body, &a); err != nil {
		// workerd ends a request that waits for what cannot come.
		return a, svc.Errorf(svc.Unprocessable, svc.CodeConfigInvalid, "%s was not evaluated: it waits for something that does not come", b.name).Because(err)
	}
	if status != http.StatusOK {
		return a, b.thrown(req, a)
	}
	return a, nil
}

// question is the body of the request.
func question(req Request) map[string]any {
	env := map[string]string{}
	for _, entry := range req.Environ {
		name, value, _ := strings.Cut(entry, "=")
		env[name] = value
	}
	q := map[string]any{"env": env, "isPreview": req.Preview, "tooling": req.Tooling != ""}
	if req.Mode != "" {
		q["mode"] = req.Mode
	}
	return q
}

// ask sends the question and returns the answer.
func ask(ctx context.Context, socket string, question map[string]any) (body []byte, status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	text, err := json.Marshal(question)
	if err != nil {
		return nil, 0, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://config/", bytes.NewReader(text))
	if err != nil {
		return nil, 0, err
	}
	transport := &http.Transport{DialContext: dialer(socket)}
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(r)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(io.LimitReader(resp.Body, mostBytes+1))
	if err == nil && len(body) > mostBytes {
		err = fmt.Errorf("it exports more than %d MiB", mostBytes>>20)
	}
	return body, resp.StatusCode, err
}

// ended is the error of an evaluation without an answer.
func (b *bundled) ended(p *process, err error) error {
	switch output := p.output(); {
	case errors.Is(err, context.DeadlineExceeded):
		return svc.Errorf(svc.Unprocessable, svc.CodeConfigInvalid, "%s was not evaluated in %s: it loops, or waits for something that does not come", b.name, timeLimit)
	case errors.Is(err, context.Canceled):
		return err
	case strings.Contains(output, "out of memory") || strings.Contains(output, "heap limit"):
		return svc.Errorf(svc.Unprocessable, svc.CodeConfigInvalid, "%s needs more than %d MiB of memory to be evaluated", b.name, heapMB)
	default:
		return svc.Errorf(svc.Unprocessable, svc.CodeConfigInvalid, "%s cannot be evaluated: %s", b.name, lastLine(output)).Because(err)
	}
}

func lastLine(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	return lines[len(lines)-1]
}
