package binding_test

import (
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestLarge is not parallel: the right belongs to the process.
func TestLarge(t *testing.T) {
	const slots = 2
	held := make([]binding.Large, slots)
	for i := range held {
		for range 2 { // the second time does nothing
			if err := held[i].Acquire(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var l binding.Large
	got := make(chan error, 1)
	go func() { got <- l.Acquire(ctx) }()
	cancel()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Errorf("the third has the right, %v", err)
	}
	if err := l.AcquireWithin(t.Context(), time.Millisecond); svc.CodeOf(err) != svc.CodeTooManyLarge {
		t.Errorf("the third, after the time limit: %v", err)
	}
	body := func(n int) io.Reader { return strings.NewReader(strings.Repeat("x", n)) }
	for _, n := range []int{0, 1, binding.LargeSize} {
		for _, length := range []int64{int64(n), -1} {
			r := httptest.NewRequestWithContext(ctx, "POST", "/", body(n))
			r.ContentLength = length
			if text, err := l.ReadBody(r, 2*binding.LargeSize); err != nil || len(text) != n {
				t.Errorf("a body of %d bytes: %d, %v", n, len(text), err)
			}
		}
	}
	if _, err := l.ReadBody(httptest.NewRequestWithContext(ctx, "POST", "/", body(binding.LargeSize+1)), 2*binding.LargeSize); !errors.Is(err, context.Canceled) {
		t.Errorf("a large body: %v", err)
	}
	for i := range held {
		held[i].Release()
		held[i].Release()
	}
	for n, want := range map[int]int{binding.LargeSize + 1: binding.LargeSize + 1, 3 * binding.LargeSize: 2*binding.LargeSize + 1} {
		text, err := l.ReadBody(httptest.NewRequestWithContext(t.Context(), "POST", "/", body(n)), 2*binding.LargeSize)
		if err != nil || len(text) != want {
			t.Errorf("a body of %d bytes: %d, %v", n, len(text), err)
		}
	}
	l.Release()
}
