package control_test

import (
	"errors"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/svc"
)

// Every field of an error arrives; of the cause, its text.
func TestErrorOnTheWire(t *testing.T) {
	t.Parallel()
	sent := svc.Error{
		Kind: svc.Conflict, Code: "c", Detail: "d", Hint: "h", Fields: []svc.FieldError{{Pointer: "/a", Code: "b", Detail: "d"}}, Output: "o",
		Queue: &svc.QueueState{Pending: 1, Max: 2}, RetryAfter: time.Second, Err: errors.New("why"),
	}
	w := httptest.NewRecorder()
	if err := control.WriteError(w, &sent); err != nil {
		t.Fatal(err)
	}
	var got *svc.Error
	if err := control.ReadError(w.Result()); !errors.As(err, &got) {
		t.Fatal(err)
	}
	text := cmp.Comparer(func(a, b error) bool { return a.Error() == b.Error() })
	if diff := cmp.Diff(sent, *got, text); diff != "" {
		t.Error(diff)
	}
}
