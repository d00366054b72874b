package door

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/svcctl/svcctl/internal/svc"
)

// request is what the shim is sent.
type request struct {
	Mark  string     `json:"mark"`
	Event *svc.Event `json:"event"` // nil for none, but the mark
}

// answer is what workerd says about an event: the first three for every one, the
// rest for a queue batch.
type answer struct {
	Outcome string `json:"outcome"`
	NoRetry bool   `json:"noRetry"`
	Error   string `json:"error"` // why the call failed; "" for most exceptions, which are in the log

	AckAll     bool `json:"ackAll"`
	RetryBatch struct {
		Retry bool `json:"retry"`
		Delay *int `json:"delaySeconds"`
	} `json:"retryBatch"`
	Acked   []string `json:"explicitAcks"`
	Retried []struct {
		ID    string `json:"msgId"`
		Delay *int   `json:"delaySeconds"`
	} `json:"retryMessages"`
}

// shimError says that the shim could not make the call.
type shimError struct{ text string }

func (e shimError) Error() string { return "dispatching an event: " + e.text }

// call is one event, from the request to the answer.
func (d *Door) call(ctx context.Context, r *recording, e *svc.Event) (result svc.EventResult, err error) {
	body, err := json.Marshal(request{r.mark, e})
	if err != nil {
		return result, shimError{err.Error()}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://door/", bytes.NewReader(body))
	if err != nil {
		return result, shimError{err.Error()}
	}
	resp, err := d.client.Do(req)
	if err != nil {
		return result, fmt.Errorf("dispatching an event: %w", err)
	}
	defer resp.Body.Close()
	var got answer
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil {
		return result, fmt.Errorf("reading the outcome of an event: %w", err)
	}
	switch {
	case resp.StatusCode != http.StatusOK:
		return result, shimError{got.Error}
	case e == nil:
		return result, nil
	}
	return got.result(*e), nil
}

func (a answer) result(e svc.Event) svc.EventResult {
	r := svc.EventResult{Outcome: svc.OutcomeOK, NoRetry: a.NoRetry}
	if a.Outcome != "ok" {
		r.Outcome, r.Error = svc.OutcomeException, &svc.EventError{Message: a.Error}
	}
	if e.Queue == nil {
		return r
	}
	r.Queue = &svc.QueueResult{AckAll: a.AckAll, RetryAll: a.RetryBatch.Retry, RetryDelay: delay(a.RetryBatch.Delay), Acked: a.Acked}
	for _, m := range a.Retried {
		r.Queue.Retried = append(r.Queue.Retried, svc.QueueRetry{ID: m.ID, Delay: delay(m.Delay)})
	}
	return r
}

// delay is one that the worker may have left to the queue.
func delay(seconds *int) int {
	if seconds == nil {
		return svc.QueueDelay
	}
	return *seconds
}
