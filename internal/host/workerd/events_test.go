package workerd_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/host/workerd"
)

func TestAwaitListening(t *testing.T) {
	t.Parallel()
	const two = `{"event":"listen-inspector","port":32823}
{"event":"listen","socket":"http","port":44275}
{"event":"listen","socket":"u","port":0}
`
	tests := map[string]struct {
		in      string
		sockets []string
		want    map[string]int
		err     error
	}{
		"both":         {two, []string{"http", "u"}, map[string]int{"http": 44275, "u": 0}, nil},
		"one":          {two, []string{"u"}, map[string]int{"u": 0}, nil},
		"none":         {two, nil, map[string]int{}, nil},
		"never":        {two, []string{"http", "v"}, map[string]int{"http": 44275}, workerd.ErrNotListening},
		"ended":        {"", []string{"http"}, map[string]int{}, workerd.ErrNotListening},
		"future event": {`{"event":"draining","socket":"u"}` + two, []string{"u"}, map[string]int{"u": 0}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := workerd.AwaitListening(strings.NewReader(tt.in), tt.sockets...)
			if !errors.Is(err, tt.err) {
				t.Fatalf("AwaitListening: %v, want %v", err, tt.err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadEventsGivesTheErrorLast(t *testing.T) {
	t.Parallel()
	var events []workerd.Event
	var last error
	for e, err := range workerd.ReadEvents(strings.NewReader(`{"event":"listen","socket":"u"} garbage`)) {
		if last = err; err == nil {
			events = append(events, e)
		}
	}
	if diff := cmp.Diff([]workerd.Event{{Kind: workerd.EventListen, Socket: "u"}}, events); diff != "" || last == nil {
		t.Errorf("%v, error %v", diff, last)
	}
}

func TestCommand(t *testing.T) {
	t.Parallel()
	want := []string{"/bin/workerd", "serve", "--experimental", "--verbose", "-I", "/", "--control-fd", "3", "/dev/fd/4"}
	if diff := cmp.Diff(want, workerd.Command("/bin/workerd", workerd.Options{Config: "/dev/fd/4", ControlFD: 3})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want = []string{"w", "serve", "--experimental", "--verbose", "-I", "/", "c"}
	if diff := cmp.Diff(want, workerd.Command("w", workerd.Options{Config: "c"})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A read that was not woken must find its message all the same: here the pipe
// stays silent for longer than a turn, and closing it still ends the wait.
func TestAwaitListeningOutlastsSilence(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(250*time.Millisecond, func() {
		_, _ = w.WriteString(`{"event":"listen","socket":"http","port":1}` + "\n")
	})
	defer timer.Stop()
	if ports, err := workerd.AwaitListening(r, "http"); err != nil || ports["http"] != 1 {
		t.Errorf("%v, %v", ports, err)
	}
	time.AfterFunc(150*time.Millisecond, func() { _ = r.Close() })
	if _, err := workerd.AwaitListening(r, "other"); !errors.Is(err, os.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	_ = w.Close()
}
