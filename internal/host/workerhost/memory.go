package workerhost

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/svc"
)

// How often the memory of the pair is measured: more often from half of the limit on. A
// worker was seen to take 600 MB in a second.
const (
	measureSlow = 250 * time.Millisecond
	measureFast = 50 * time.Millisecond
)

// memoryWatch ends a workerd when the pair of this process and workerd uses more memory than
// its limit. V8's own limit covers the JavaScript heap only, neither typed arrays nor wasm
// nor what this process holds for the worker.
type memoryWatch struct {
	limit int64 // bytes
	over  atomic.Pointer[control.Exit]
}

// run measures until exited is closed, and calls kill at most once.
func (m *memoryWatch) run(pid int, exited <-chan struct{}, kill func()) {
	own, worker := newMeter(os.Getpid()), newMeter(pid)
	defer own.close()
	defer worker.close()
	wait := measureFast
	t := time.NewTimer(wait)
	defer t.Stop()
	for {
		select {
		case <-exited:
			return
		case <-t.C:
		}
		used := own.bytes() + worker.bytes()
		if used > m.limit {
			m.over.Store(&control.Exit{Code: svc.CodeOutOfMemory, Detail: fmt.Sprintf(
				"the worker and its host used %d MiB of memory and were ended: their limit is %d MiB", used>>20, m.limit>>20)})
			kill()
			return
		}
		wait = measureSlow
		if used > m.limit/2 {
			wait = measureFast
		}
		t.Reset(wait)
	}
}

// logExit writes the end of workerd to the worker's log, beside what the worker wrote.
func (w *worker) logExit(e control.Exit) {
	w.stdout.log.Write(workerd.LogLine{Level: "fatal", Source: workerd.SourceRuntime, Message: e.Code + ": " + e.Detail})
}
