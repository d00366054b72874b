package watch

import (
	"sync"
	"time"
)

// pollEvery is the interval of polling. A tree that takes long to read is read less
// often, so that polling uses at most a tenth of a processor.
const pollEvery = 300 * time.Millisecond

// poller is the source that compares files.
type poller struct {
	root string
	out  chan<- string
	stop chan struct{}
	done sync.WaitGroup

	mu    sync.Mutex
	files []string
}

// newPoller starts polling; out takes the paths.
func newPoller(root string, files []string, out chan<- string) *poller {
	p := &poller{root: root, out: out, stop: make(chan struct{}), files: files}
	before := p.look()
	p.done.Go(func() { p.run(before) })
	return p
}

func (p *poller) also(files []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files = files
}

func (p *poller) close() {
	close(p.stop)
	p.done.Wait()
}

func (p *poller) run(before map[string]Stamp) {
	pause := time.NewTimer(pollEvery)
	defer pause.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-pause.C:
		}
		began := time.Now()
		now := p.look()
		if !p.compare(before, now) {
			return
		}
		before = now
		pause.Reset(max(pollEvery, 10*time.Since(began)))
	}
}

// compare reports what differs; false if the poller was closed meanwhile.
func (p *poller) compare(before, now map[string]Stamp) bool {
	for path, s := range now {
		if old, ok := before[path]; (!ok || old != s) && !p.send(path) {
			return false
		}
	}
	for path := range before {
		if _, ok := now[path]; !ok && !p.send(path) {
			return false
		}
	}
	return true
}

func (p *poller) send(path string) bool {
	select {
	case p.out <- path:
		return true
	case <-p.stop:
		return false
	}
}

// look reads the stamps of all files.
func (p *poller) look() map[string]Stamp {
	p.mu.Lock()
	files := p.files
	p.mu.Unlock()
	return Look(p.root, files)
}
