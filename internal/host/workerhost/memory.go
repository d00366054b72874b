package workerhost

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/lib/cputime"
	"github.com/svcctl/svcctl/internal/svc"
)

// How often the memory of the pair is measured: more often from half of the limit on. A
// worker was seen to take 600 MB in a second.
const (
	measureSlow = 250 * time.Millisecond
	measureFast = 50 * time.Millisecond
)

const (
	// restAfter is the time without work after which memory is not measured until wake.
	restAfter = 3 * time.Second
	// growth is the number of bytes by which the memory of a pair changes only by work.
	growth = 1 << 20
)

// memoryWatch ends a workerd when the pair of this process and workerd uses more memory than
// its limit. V8's own limit covers the JavaScript heap only, neither typed arrays nor wasm
// nor what this process holds for the worker. A pair that does nothing is not measured: the
// daemon pings it as soon as its workerd uses processor time.
type memoryWatch struct {
	limit int64 // bytes
	over  atomic.Pointer[control.Exit]
	work  chan struct{} // holds a token for work that begins
	pings chan struct{} // and one for a ping

	onRest func(rests bool)
	rests  atomic.Bool // nothing is measured
}

// init sets the limit, and what is called when the pair rests and when it has work again.
func (m *memoryWatch) init(limit int64, onRest func(rests bool)) {
	m.limit, m.work, m.pings, m.onRest = limit, make(chan struct{}, 1), make(chan struct{}, 1), onRest
}

// wake notes that the pair has work, and reports whether it rested. It does not block.
func (m *memoryWatch) wake() (rested bool) {
	signal(m.work)
	return m.rests.Load()
}

// ping notes that workerd is pinged: work may have begun. It does not block.
func (m *memoryWatch) ping() { signal(m.pings) }

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// pair is what is measured of this process and workerd.
type pair interface {
	bytes() int64
	worked() time.Duration // processor time of workerd; 0 if unknown
}

// run measures until exited is closed, and calls kill at most once.
func (m *memoryWatch) run(p pair, exited <-chan struct{}, kill func()) {
	t := time.NewTimer(measureFast)
	defer t.Stop()
	used, worked, moved := int64(0), time.Duration(0), time.Now()
	pinged := false // the processor time since the last look may be that of a ping
	for {
		ping := false
		select {
		case <-exited:
			return
		case <-t.C:
		case <-m.work:
			moved = time.Now()
		case <-m.pings:
			ping = true
		}
		before := used
		used = p.bytes()
		if used > m.limit {
			m.over.Store(&control.Exit{Code: svc.CodeOutOfMemory, Detail: fmt.Sprintf(
				"the worker and its host used %d MiB of memory and were ended: their limit is %d MiB", used>>20, m.limit>>20)})
			kill()
			return
		}
		now := p.worked()
		if now == 0 || now != worked && !pinged || used-before > growth {
			moved = time.Now()
		}
		worked, pinged = now, ping
		rests := time.Since(moved) >= restAfter
		if m.rests.Swap(rests) != rests {
			m.onRest(rests)
		}
		t.Stop()
		switch {
		case rests && !pinged:
		case !rests && used > m.limit/2:
			t.Reset(measureFast)
		default:
			t.Reset(measureSlow)
		}
	}
}

// processes are this process and workerd.
type processes struct {
	own, worker meter
	pid         int // of workerd
}

func (p processes) bytes() int64          { return p.own.bytes() + p.worker.bytes() }
func (p processes) worked() time.Duration { return cputime.Of(p.pid) }

func (w *worker) watchMemory() {
	if w.memory.limit == 0 {
		return
	}
	go func() {
		p := processes{own: newMeter(os.Getpid()), worker: newMeter(w.pid()), pid: w.pid()}
		defer p.own.close()
		defer p.worker.close()
		w.memory.run(p, w.exited, func() { _ = w.cmd.Process.Kill() })
	}()
}

// tooMuchMemory returns why a workerd that has exited was ended, if that was for its memory.
func (w *worker) tooMuchMemory() *control.Exit {
	if e := w.memory.over.Load(); e != nil {
		return e
	}
	if text := w.group.OutOfMemory(); text != "" {
		return &control.Exit{Code: svc.CodeOutOfMemory, Detail: text}
	}
	return nil
}

// logExit writes the end of workerd to the worker's log, beside what the worker wrote.
func (w *worker) logExit(e control.Exit) {
	w.stdout.log.Write(workerd.LogLine{Level: "fatal", Source: workerd.SourceRuntime, Message: e.Code + ": " + e.Detail})
}
