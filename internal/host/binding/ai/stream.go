package ai

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxEvent is the longest line of a stream.
const maxEvent = 1 << 20

// errDone says that the stream is complete.
var errDone = errors.New("done")

// stream passes the parts of an answer on as they come, each as an event of Workers AI.
func (a *api) stream(w http.ResponseWriter, r *http.Request, body map[string]any) error {
	body["stream"] = true
	body["stream_options"] = map[string]bool{"include_usage": true}
	resp, err := a.post(r.Context(), "/chat/completions", body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	w.Header()["Content-Type"] = []string{"text/event-stream"}
	e := events{w: w}
	err = e.copy(resp.Body)
	if errors.Is(err, errDone) {
		return nil
	}
	// The head is gone, so the error is an event, as on Cloudflare.
	e.send(map[string]any{"error": a.clean(fmt.Sprintf("the AI endpoint ended the stream: %v", err))})
	e.line("[DONE]")
	return nil
}

// events writes the stream that the worker reads.
type events struct {
	w     http.ResponseWriter
	tools []toolCall // their arguments come in pieces
	usage json.RawMessage
}

func (e *events) line(data string) {
	_, _ = io.WriteString(e.w, "data: "+data+"\n\n") // the context of the request ends when the worker is gone
	if f, ok := e.w.(http.Flusher); ok {
		f.Flush()
	}
}

func (e *events) send(v any) {
	text, err := json.Marshal(v)
	if err == nil {
		e.line(string(text))
	}
}

// copy reads events until the last one (errDone).
func (e *events) copy(body io.Reader) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxEvent)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data:")
		if !ok {
			continue
		}
		if err := e.event(strings.TrimSpace(data)); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF
}

func (e *events) event(data string) error {
	if data == "[DONE]" {
		e.end()
		return errDone
	}
	var c completion
	if err := json.Unmarshal([]byte(data), &c); err != nil {
		return fmt.Errorf("reading an event: %w", err)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return errors.New(reason(strings.NewReader(data)))
	}
	if len(c.Usage) > 0 && string(c.Usage) != "null" {
		e.usage = c.Usage
	}
	if len(c.Choices) == 0 {
		return nil
	}
	d := c.Choices[0].Delta
	for _, t := range d.ToolCalls {
		e.tool(t)
	}
	if d.Content != nil && *d.Content != "" {
		e.send(map[string]any{"response": *d.Content})
	}
	return nil
}

// tool adds a piece to the call with its index.
func (e *events) tool(t toolCall) {
	for i := range e.tools {
		if e.tools[i].Index == t.Index {
			e.tools[i].Function.Name += t.Function.Name
			e.tools[i].Function.Arguments += t.Function.Arguments
			return
		}
	}
	e.tools = append(e.tools, t)
}

// end sends what is known at the end alone.
func (e *events) end() {
	last := map[string]any{"response": ""}
	if len(e.tools) > 0 {
		last["tool_calls"] = calledTools(e.tools)
	}
	if len(e.usage) > 0 {
		last["usage"] = e.usage
	}
	if len(last) > 1 {
		e.send(last)
	}
	e.line("[DONE]")
}
