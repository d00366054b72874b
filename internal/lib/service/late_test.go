package service_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/lib/service"
)

// panicOf is what f panics with, "" if it does not.
func panicOf(f func()) (text string) {
	defer func() {
		if v := recover(); v != nil {
			text = fmt.Sprint(v)
		}
	}()
	f()
	return ""
}

func TestLate(t *testing.T) {
	t.Parallel()
	var part service.Late[*strings.Builder]
	if why := panicOf(func() { part.Get() }); why != "*strings.Builder is used before it was made" {
		t.Errorf("before Set: %q", why)
	}
	b := &strings.Builder{}
	part.Set(b)
	if part.Get() != b {
		t.Error("Get returns another part")
	}
	var nothing service.Late[fmt.Stringer]
	nothing.Set(nil)
	if why := panicOf(func() { nothing.Get() }); why != "" {
		t.Errorf("a part that is nil: %s", why)
	}
}

func TestEvent(t *testing.T) {
	t.Parallel()
	e := service.NewEvent[int]("asked")
	if why := panicOf(func() { e.Tell(1) }); !strings.Contains(why, "no part has subscribed to the event asked yet") {
		t.Errorf("without subscribers: %q", why)
	}
	var got []string
	e.Subscribe(func(n int) { got = append(got, fmt.Sprint("one ", n)) })
	e.Subscribe(func(n int) { got = append(got, fmt.Sprint("two ", n)) })
	e.Tell(7)
	if want := []string{"one 7", "two 7"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
