package s3fault

import (
	"io"
	"maps"
	"net/http"
)

// Counts counts the traffic of a Proxy since it began.
type Counts struct {
	Requests map[string]int64 // by method; a listing is LIST, not GET
	Faults   map[Kind]int64   // injected ones
	Up, Down int64            // bytes of bodies: from the client, to the client
}

// Total is the number of requests.
func (c Counts) Total() (n int64) {
	for _, k := range c.Requests {
		n += k
	}
	return n
}

// Injected is the number of faults.
func (c Counts) Injected() (n int64) {
	for _, k := range c.Faults {
		n += k
	}
	return n
}

// Since returns the difference to before.
func (c Counts) Since(before Counts) Counts {
	d := Counts{Requests: map[string]int64{}, Faults: map[Kind]int64{}, Up: c.Up - before.Up, Down: c.Down - before.Down}
	for method, n := range c.Requests {
		if n -= before.Requests[method]; n > 0 {
			d.Requests[method] = n
		}
	}
	for kind, n := range c.Faults {
		if n -= before.Faults[kind]; n > 0 {
			d.Faults[kind] = n
		}
	}
	return d
}

// Counts returns the current counts. A request is counted when it arrives, a byte
// before it is forwarded.
func (p *Proxy) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Counts{maps.Clone(p.requests), maps.Clone(p.met), p.up.Load(), p.down.Load()}
}

func operation(r *http.Request) string {
	if isList(r) {
		return "LIST"
	}
	return r.Method
}

// counted counts the bytes read from it.
type counted struct {
	io.Reader
	add func(int64) int64
}

func (c counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.add(int64(n))
	return n, err
}
