package control

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// none stands for no argument or no result. It needs no body.
type none struct{}

// call asks the host at the other end of c for a verb.
func call[In, Out any](ctx context.Context, c *Client, verb string, in In) (out Out, err error) {
	var body io.Reader
	if _, empty := any(in).(none); !empty {
		data, err := json.Marshal(in)
		if err != nil {
			return out, fmt.Errorf("encoding the argument of %s: %w", verb, err)
		}
		body = bytes.NewReader(data)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://host/"+verb, body)
	if err != nil {
		return out, fmt.Errorf("asking the runtime to %s: %w", verb, err)
	}
	resp, err := c.send(r)
	if err == nil {
		err = c.why(r, json.NewDecoder(resp.Body).Decode(&out))
		_ = resp.Body.Close() // it was read, or the call failed
	}
	if ctx.Err() != nil && err != nil {
		return out, fmt.Errorf("waiting for the runtime to %s: %w", verb, err)
	}
	return out, err
}

// verb answers a call with do.
func verb[In, Out any](do func(context.Context, In) (Out, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in In
		if _, empty := any(in).(none); !empty {
			if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
				_ = WriteError(w, fmt.Errorf("reading the argument of %s: %w", r.URL.Path, err))
				return
			}
		}
		out, err := do(r.Context(), in)
		if err == nil {
			err = json.NewEncoder(w).Encode(out)
		}
		if err != nil {
			_ = WriteError(w, err) // a daemon that canceled the call reads no answer
		}
	}
}

func takes[In any](do func(context.Context, In) error) func(context.Context, In) (none, error) {
	return func(ctx context.Context, in In) (none, error) { return none{}, do(ctx, in) }
}

func gives[Out any](do func(context.Context) (Out, error)) func(context.Context, none) (Out, error) {
	return func(ctx context.Context, _ none) (Out, error) { return do(ctx) }
}
