package binding

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// AdminTime is the time limit of an Operation that passes no bodies.
const AdminTime = 30 * time.Second

// Timed ends an operation after AdminTime.
func Timed(do Operation) Operation {
	return func(w http.ResponseWriter, r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), AdminTime)
		defer cancel()
		return do(w, r.WithContext(ctx))
	}
}

// One is an operation on the binding that a parameter of the path names. noun names the
// kind for people: see Pick.
func One[T Instance](open []Opened, parameter, noun string, do func(T, http.ResponseWriter, *http.Request) error) Operation {
	return func(w http.ResponseWriter, r *http.Request) error {
		o, err := Pick(open, r.PathValue(parameter), noun)
		if err != nil {
			return err
		}
		in, err := InstanceOf[T](o, noun)
		if err != nil {
			return err
		}
		return do(in, w, r)
	}
}

// InstanceOf is the Instance of a binding of a known kind.
func InstanceOf[T Instance](o Opened, noun string) (T, error) {
	in, ok := o.Instance.(T)
	if !ok {
		return in, fmt.Errorf("binding %q is no %s but %T", o.Name, noun, o.Instance)
	}
	return in, nil
}

// Overview lists bindings with their Stats.
func Overview(open []Opened) Operation {
	return Timed(func(w http.ResponseWriter, r *http.Request) error {
		items := make([]map[string]any, len(open))
		for i, o := range open {
			m, err := InstanceOf[measuredInstance](o, "binding with numbers")
			if err != nil {
				return err
			}
			stats, err := m.Stats(r.Context())
			if err != nil {
				return err
			}
			items[i] = map[string]any{"binding": o.Name}
			for name, n := range stats {
				items[i][name] = n
			}
		}
		return WriteItems(w, items)
	})
}

type measuredInstance interface {
	Instance
	Measured
}

// ListLimit is the number of items that a request wants of a list: usual if it does not
// say, and not more than most.
func ListLimit(r *http.Request, usual, most int) (int, error) {
	text := r.URL.Query().Get("limit")
	if text == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, svc.Errorf(svc.BadRequest, svc.CodeInvalidLimit, "limit must be a number from 1 to %d", most)
	}
	return min(n, most), nil
}

// Page cuts found to limit items. next is the cursor of what follows, bound to the list's
// scope; nil if found had no more. position is the place of the item with an index.
func Page[T any](found []T, limit int, scope string, position func(i int) any) (page []T, next *string, err error) {
	if len(found) <= limit {
		return found, nil, nil
	}
	cursor, err := Cursor(scope, position(limit-1))
	return found[:limit], &cursor, err
}

// WriteItems answers 200 with a list.
func WriteItems(w http.ResponseWriter, items any) error {
	return WriteJSON(w, map[string]any{"items": items})
}

// WritePage answers 200 with a page of a list.
func WritePage(w http.ResponseWriter, items any, next *string) error {
	return WriteJSON(w, map[string]any{"items": items, "next_cursor": next})
}

// Stamp is a time as the API has it [D10].
func Stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
