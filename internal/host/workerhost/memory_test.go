package workerhost

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// fakePair counts how often it is measured.
type fakePair struct{ measured, used, cpu atomic.Int64 }

func (p *fakePair) bytes() int64 {
	p.measured.Add(1)
	return p.used.Load()
}

func (p *fakePair) worked() time.Duration { return time.Duration(p.cpu.Load()) }

// TestMemoryRest: a pair without work is not measured until wake, one that works or grows is,
// and the limit holds after a rest.
func TestMemoryRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := new(fakePair)
		p.cpu.Store(1)
		var m memoryWatch
		rests := ""
		m.init(100<<20, func(r bool) { rests += map[bool]string{true: "rest ", false: "work "}[r] })
		exited, killed := make(chan struct{}), make(chan time.Time, 1)
		began := time.Now()
		go m.run(p, exited, func() { killed <- time.Now() })
		during := func(d time.Duration, each func()) int64 {
			before := p.measured.Load()
			for range d / time.Second {
				if each != nil {
					each()
				}
				<-time.After(time.Second)
				synctest.Wait()
			}
			return p.measured.Load() - before
		}
		if n := during(4*time.Second, nil); n < 12 || n > 14 {
			t.Errorf("measured %d times in 4 s after the start", n)
		}
		if n := during(time.Hour, nil); n > 0 {
			t.Errorf("measured %d times while there was no work", n)
		}
		if n := during(time.Hour, sync.OnceFunc(func() { m.ping(); synctest.Wait(); p.cpu.Add(1) })); n != 2 {
			t.Errorf("measured %d times at a ping without work", n)
		}
		p.cpu.Add(1)
		m.ping()
		if n := during(10*time.Second, func() { p.cpu.Add(1) }); n < 40 {
			t.Errorf("measured %d times in 10 s of work", n)
		}
		if n := during(10*time.Second, func() { p.used.Add(2 << 20) }); n < 40 {
			t.Errorf("measured %d times in 10 s of growth", n)
		}
		during(time.Hour, nil)
		p.used.Store(101 << 20)
		woken := time.Now()
		if !m.wake() {
			t.Error("it did not rest")
		}
		if at := <-killed; at.Sub(woken) > measureSlow || m.over.Load() == nil {
			t.Errorf("killed %s after the wake, %s after the start: %v", at.Sub(woken), at.Sub(began), m.over.Load())
		}
		if rests != "rest work rest " {
			t.Errorf("reported: %s", rests)
		}
	})
}
