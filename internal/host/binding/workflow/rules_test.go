package workflow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/workflow"
	"github.com/svcctl/svcctl/internal/svc"
)

// script is a worker without workerd: play says what a run stores, as engine.js would.
type script struct {
	set  *binding.Set
	play func(r *run) svc.Outcome

	mu    sync.Mutex
	times []time.Duration // of the runs, from the start
	began time.Time
}

// runs gives when the runs began.
func (s *script) runs() []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.times)
}

// run is one run that a script plays.
type run struct {
	ctx   context.Context
	s     *script
	Drive string
	ID    string
	Steps []struct {
		Key, State  string
		Attempts    int
		Interrupted bool
	}
}

func (s *script) Dispatch(ctx context.Context, e svc.Event) (svc.EventResult, error) {
	s.mu.Lock()
	s.times = append(s.times, time.Since(s.began))
	s.mu.Unlock()
	r := &run{ctx: ctx, s: s}
	if err := json.Unmarshal([]byte(e.Workflow.Job), r); err != nil { //nolint:musttag // fields match without regard to case
		return svc.EventResult{}, err
	}
	outcome := s.play(r)
	if ctx.Err() != nil {
		outcome = svc.OutcomeCanceled
	}
	return svc.EventResult{Outcome: outcome, Error: &svc.EventError{Message: "played"}}, nil
}

// save stores a record, or fails when the run is over.
func (r *run) save(record string) (answer string) {
	return r.s.post("save", fmt.Sprintf(`{"drive":%q,"records":[%s]}`, r.Drive, record))
}

// post is a request of the engine.
func (s *script) post(path, body string) string {
	req := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "http://store/"+path, strings.NewReader(body))
	req.Header.Set(binding.RouteHeader, "workflow/flow")
	w := httptest.NewRecorder()
	s.set.ServeHTTP(w, req)
	return w.Body.String()
}

func (s *script) status(id string) string {
	var st struct{ Status, Message string }
	_ = json.Unmarshal([]byte(s.post("status", fmt.Sprintf(`{"id":%q}`, id))), &st) //nolint:musttag // fields match without regard to case
	return st.Status + st.Message
}

// scripted runs a test on a workflow that play plays. open opens the workflow again, as
// another process does.
func scripted(t *testing.T, play func(r *run) svc.Outcome, test func(t *testing.T, s *script, open func())) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		volumes := bindingtest.OpenVolumes(t, t.TempDir())
		s := &script{play: play, began: time.Now()}
		open := func() { s.open(t, volumes) }
		open()
		test(t, s, open)
		s.set.Stop(t.Context())
	})
}

func (s *script) open(t *testing.T, v volume.Volumes) {
	t.Helper()
	if s.set != nil {
		if err := s.set.Close(); err != nil {
			t.Fatal(err)
		}
	}
	set, err := binding.OpenAll(t.Context(), []binding.Kind{workflow.Kind{}}, &bundle.Manifest{Bindings: []bundle.Binding{declaration("Flow")}}, v)
	if err == nil {
		s.set = set
		err = set.Start(t.Context(), s)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (s *script) create(n int) {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(`{"id":"i%d","params":{}}`, i))
	}
	s.post("create", `{"instances":[`+strings.Join(list, ",")+`]}`)
}

// tallied checks how many instances have a state. The first Tally asks for the second.
func (s *script) tallied(t *testing.T, state string, want int64) {
	t.Helper()
	s.set.Tallies()
	synctest.Wait()
	for _, tally := range s.set.Tallies() {
		if tally.State == state && tally.Count != want || tally.Kind != "workflow" || tally.Resource != "flow" {
			t.Errorf("%+v, want %d %s", tally, want, state)
		}
	}
}

// pass lets time pass, and waits for what is due then.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// TestCrashes: runs that die are tried again after 1 s, 2 s, 4 s … and the tenth ends the instance.
func TestCrashes(t *testing.T) {
	t.Parallel()
	scripted(t, func(*run) svc.Outcome { return svc.OutcomeException }, func(t *testing.T, s *script, _ func()) {
		s.create(1)
		pass(time.Hour)
		if got := s.status("i0"); got != "errored" {
			t.Errorf("it is %s", got)
		}
		want := "[0s 1s 3s 7s 15s 31s 1m3s 2m7s 4m15s 8m31s]"
		times := s.runs()
		for i := range times {
			times[i] = times[i].Round(time.Second)
		}
		if got := fmt.Sprint(times); got != want {
			t.Errorf("runs at %s, want %s", got, want)
		}
	})
}

// TestSleepers: instances that sleep have no run, and one time wakes all of them, in another
// process as well.
func TestSleepers(t *testing.T) {
	t.Parallel()
	const many = 250
	play := func(r *run) svc.Outcome {
		if len(r.Steps) == 0 {
			r.save(fmt.Sprintf(`{"op":"sleep","key":"sleep:1:s","type":"sleep","name":"s","count":1,"due":%d}`, time.Now().Add(time.Hour).UnixMilli()))
			r.save(`{"op":"suspended","keys":["sleep:1:s"]}`)
			return svc.OutcomeOK
		}
		if r.Steps[0].State == "done" {
			r.save(`{"op":"complete","value":1}`)
		}
		return svc.OutcomeOK
	}
	scripted(t, play, func(t *testing.T, s *script, open func()) {
		s.create(many)
		pass(time.Minute)
		s.tallied(t, "waiting", many)
		if w := s.set.Wake(); w.Pending != 0 || w.At.Sub(s.began).Round(time.Minute) != time.Hour {
			t.Errorf("wakes %+v", w)
		}
		open()
		pass(58 * time.Minute)
		if n := len(s.runs()); n != many {
			t.Errorf("%d runs", n)
		}
		pass(time.Hour)
		if first, last := s.status("i0"), s.status(fmt.Sprintf("i%d", many-1)); len(s.runs()) != 2*many || first != "complete" || last != "complete" {
			t.Errorf("%d runs, %s, %s", len(s.runs()), first, last)
		}
		s.tallied(t, "complete", many)
		if w := s.set.Wake(); w.Pending != 0 || !w.At.IsZero() {
			t.Errorf("wakes %+v", w)
		}
	})
}

// TestPauseShifts: a wait has the time left after resume that it had before.
func TestPauseShifts(t *testing.T) {
	t.Parallel()
	play := func(r *run) svc.Outcome {
		if len(r.Steps) > 0 && r.Steps[0].State == "done" {
			r.save(`{"op":"complete","value":1}`)
			return svc.OutcomeOK
		}
		if len(r.Steps) == 0 {
			r.save(fmt.Sprintf(`{"op":"sleep","key":"sleep:1:s","type":"sleep","name":"s","count":1,"due":%d}`, time.Now().Add(time.Hour).UnixMilli()))
		}
		r.save(`{"op":"suspended","keys":["sleep:1:s"]}`)
		return svc.OutcomeOK
	}
	scripted(t, play, func(t *testing.T, s *script, _ func()) {
		s.create(1)
		pass(30 * time.Minute)
		s.post("pause", `{"id":"i0"}`)
		pass(3 * time.Hour)
		paused := s.status("i0")
		s.post("resume", `{"id":"i0"}`)
		pass(29 * time.Minute)
		waits := s.status("i0")
		pass(2 * time.Minute)
		if ends := s.status("i0"); paused != "paused" || waits != "waiting" || ends != "complete" {
			t.Errorf("%s, %s, %s", paused, waits, ends)
		}
	})
}

// TestStopIsNoAttempt: a step that the platform cuts off has not been tried; one that died
// with its process has.
func TestStopIsNoAttempt(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex // guards seen
	var seen []string
	play := func(r *run) svc.Outcome {
		mu.Lock()
		seen = append(seen, fmt.Sprint(r.Steps))
		n := len(seen)
		mu.Unlock()
		r.save(fmt.Sprintf(`{"op":"begin","key":"do:1:a","type":"do","name":"a","count":1,"attempt":%d,"at":1}`, n))
		if n == 3 {
			r.save(`{"op":"complete"}`)
			return svc.OutcomeOK
		}
		if n == 2 {
			return svc.OutcomeException // the process died
		}
		<-r.ctx.Done()
		return svc.OutcomeCanceled
	}
	scripted(t, play, func(t *testing.T, s *script, open func()) {
		s.create(1)
		synctest.Wait()
		open()
		pass(time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if want := "[[] [{do:1:a waiting 0 false}] [{do:1:a running 2 true}]]"; fmt.Sprint(seen) != want {
			t.Errorf("runs know %v, want %s", seen, want)
		}
	})
}

// TestRetention: a finished instance is gone after its retention, and its id is free.
func TestRetention(t *testing.T) {
	t.Parallel()
	play := func(r *run) svc.Outcome {
		if r.ID == "bad" {
			r.save(`{"op":"errored","error":{"name":"E","message":"m"}}`)
		} else {
			r.save(`{"op":"complete"}`)
		}
		return svc.OutcomeOK
	}
	scripted(t, play, func(t *testing.T, s *script, _ func()) {
		create := func() string {
			return s.post("create", `{"instances":[{"id":"bad","success":1,"error":3600000},{"id":"good"}]}`)
		}
		create()
		pass(59 * time.Minute)
		bad, good := s.status("bad"), s.status("good")
		pass(2 * time.Minute)
		if gone := s.status("bad"); bad != "errored" || good != "complete" || gone != "instance.not_found" {
			t.Errorf("%s, %s, %s", bad, good, gone)
		}
		if got, want := create(), `{"created":["bad"],"errors":[{"index":1,"id":"good"}]}`; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		pass(31 * 24 * time.Hour)
		if gone := s.status("good"); gone != "instance.not_found" {
			t.Error(gone)
		}
	})
}

// TestOverIsOver: a run that was cut off stores nothing in the instance that was restarted.
func TestOverIsOver(t *testing.T) {
	t.Parallel()
	var first atomic.Pointer[run]
	play := func(r *run) svc.Outcome {
		if first.CompareAndSwap(nil, r) {
			<-r.ctx.Done()
			return svc.OutcomeCanceled
		}
		r.save(`{"op":"complete","value":"second"}`)
		return svc.OutcomeOK
	}
	scripted(t, play, func(t *testing.T, s *script, _ func()) {
		s.create(1)
		synctest.Wait()
		s.post("restart", `{"id":"i0"}`)
		pass(time.Second)
		if got := first.Load().save(`{"op":"complete","value":"first"}`); !strings.Contains(got, `"over"`) {
			t.Errorf("the first run stored something: %s", got)
		}
		if got := s.post("status", `{"id":"i0"}`); got != `{"status":"complete","output":"second"}` {
			t.Error(got)
		}
	})
}
