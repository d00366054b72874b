package queues

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/svcctl/svcctl/internal/host/binding"
)

// delayHeader has the delay of the binding, in seconds. workerd sets it.
const delayHeader = "X-Svc-Queue-Delay"

// ServeHTTP answers workerd's queue binding.
func (q *queue) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := q.serve(w, r); err != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		fail(w, err)
	}
}

// fail answers with an error. workerd reads it from headers, or from the reason phrase for
// a worker with a compatibility date before 2026-03-12. Cloudflare's numbers for errors are
// not known, so the number is the status.
func fail(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	if no, ok := errors.AsType[*refusal](err); ok {
		status = no.status
	}
	text := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return ' '
		}
		return r
	}, err.Error())
	w.Header()["CF-Queues-Error-Code"] = []string{strconv.Itoa(status)}
	w.Header()["CF-Queues-Error-Cause"] = []string{text}
	binding.Fail(w, status, text)
}

func (q *queue) serve(w http.ResponseWriter, r *http.Request) error {
	var list []message
	var err error
	switch r.Method + " " + r.URL.Path {
	case "POST /message":
		list, err = readMessage(r)
	case "POST /batch":
		list, err = readBatch(r)
	case "GET /metrics":
		m, err := q.metrics(r.Context())
		if err != nil {
			return err
		}
		return binding.WriteJSON(w, m)
	default:
		return refuse(http.StatusNotFound, "a queue has no %s %s", r.Method, r.URL.Path)
	}
	if err != nil {
		return err
	}
	if err := check(list); err != nil {
		return err
	}
	m, err := q.send(r.Context(), list)
	if err != nil {
		return err
	}
	return binding.WriteJSON(w, sendAnswer{sendMetadata{m}})
}

// sendAnswer is what workerd wants to read after a send.
type sendAnswer struct {
	Metadata sendMetadata `json:"metadata"`
}

type sendMetadata struct {
	Metrics metrics `json:"metrics"`
}

func readMessage(r *http.Request) ([]message, error) {
	delay, err := delayOf(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxMessage+1))
	if err != nil {
		return nil, err
	}
	rest, err := io.Copy(io.Discard, r.Body)
	if err != nil {
		return nil, err
	}
	if rest > 0 {
		return nil, refuse(http.StatusRequestEntityTooLarge, "message length of %d bytes exceeds limit of %d", int64(len(body))+rest, maxMessage)
	}
	return []message{{key: newKey(), contentType: cmp.Or(r.Header.Get("X-Msg-Fmt"), "v8"), delay: delay, body: body}}, nil
}

// sentBatch is the body of a batch.
type sentBatch struct {
	Messages []struct {
		Body        []byte `json:"body"`
		ContentType string `json:"contentType"`
		Delay       *int64 `json:"delaySecs"`
	} `json:"messages"`
}

func readBatch(r *http.Request) ([]message, error) {
	delay, err := delayOf(r)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(r.Body, maxBatchRequest+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxBatchRequest {
		return nil, refuse(http.StatusRequestEntityTooLarge, "batch size exceeds limit of %d bytes", maxBatchBytes)
	}
	var sent sentBatch
	if err := json.Unmarshal(text, &sent); err != nil {
		return nil, refuse(http.StatusBadRequest, "invalid batch: %v", err)
	}
	list := make([]message, len(sent.Messages))
	for i, m := range sent.Messages {
		list[i] = message{key: newKey(), contentType: cmp.Or(m.ContentType, "v8"), delay: delay, body: m.Body}
		if m.Delay != nil {
			list[i].delay = *m.Delay
		}
	}
	return list, nil
}

// delayOf is the delay that a request has for its messages, in seconds: its own, or
// else that of the binding.
func delayOf(r *http.Request) (int64, error) {
	text := cmp.Or(r.Header.Get("X-Msg-Delay-Secs"), r.Header.Get(delayHeader), "0")
	delay, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, refuse(http.StatusBadRequest, "the delay %q is no whole number of seconds", text)
	}
	return delay, nil
}
