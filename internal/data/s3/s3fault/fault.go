package s3fault

import (
	"net/http"
	"slices"
	"time"
)

// Kind is a kind of fault.
type Kind int

// The kinds. A fault "before" keeps the request from the object store; with the
// others the object store has executed the request, or will.
const (
	None         Kind = iota // no fault: for Next
	ServerError              // 500 InternalError, before
	SlowDown                 // 503 SlowDown, before
	Conflict                 // 409 ConditionalRequestConflict for a conditional PUT, before
	ResetBefore              // the connection is reset, before
	ResetAfter               // the connection is reset once the object store has answered
	Late                     // the connection is reset, and the object store gets the write Faults.Delay later
	Hang                     // no answer until the client disconnects, before
	HangAfter                // no answer until the client disconnects; the object store has answered
	SlowUpload               // the body of the request takes Faults.Slow
	SlowDownload             // the body of the answer takes Faults.Slow
	TornUpload               // the body of the request is truncated, then the connection is reset
	TornDownload             // the body of the answer is truncated
	StaleList                // a listing is the previous one, at most Faults.Stale old
	kinds                    // number of kinds
)

//nolint:gochecknoglobals // a table
var names = [kinds]string{
	"none", "500", "503", "409", "reset before", "reset after", "late", "hang", "hang after",
	"slow upload", "slow download", "torn upload", "torn download", "stale list",
}

func (k Kind) String() string { return names[k] }

// All returns every kind but None.
func All() []Kind {
	all := make([]Kind, 0, kinds)
	for k := None + 1; k < kinds; k++ {
		all = append(all, k)
	}
	return all
}

// Faults configure the faults of a Proxy. The zero value injects none.
type Faults struct {
	Rate    float64                  // probability that a request gets a fault, 0 to 1
	Kinds   []Kind                   // kinds to inject, with equal probability among those that apply to the request; nil for All
	Match   func(*http.Request) bool // requests that may get a fault; nil for all
	Seed    uint64                   // of the random numbers, which Set starts again
	Latency time.Duration            // added to every request, faulty or not
	Slow    time.Duration            // duration of a slow body: 200 ms when 0
	Stale   time.Duration            // maximum age of a stale listing: 2 s when 0
	Delay   time.Duration            // delay of a late write: 100 ms when 0
}

// isList distinguishes a list request from the reading of an object.
func isList(r *http.Request) bool {
	return r.Method == http.MethodGet && (r.URL.Query().Has("list-type") || r.URL.Query().Has("prefix"))
}

// choose draws a fault for r. p.mu is held.
func (p *Proxy) choose(r *http.Request) Kind {
	if len(p.next) > 0 {
		if kind := p.next[0]; p.applies(kind, r) {
			p.next = p.next[1:]
			return kind
		}
		return None
	}
	if p.faults.Match != nil && !p.faults.Match(r) || p.rng.Float64() >= p.faults.Rate {
		return None
	}
	can := slices.DeleteFunc(slices.Clone(p.faults.Kinds), func(k Kind) bool { return !p.applies(k, r) })
	if len(can) == 0 {
		return None
	}
	return can[p.rng.IntN(len(can))]
}

// applies reports whether k can apply to r. p.mu is held.
func (p *Proxy) applies(k Kind, r *http.Request) bool {
	switch k { //nolint:exhaustive // the others apply to every request
	case Conflict:
		return r.Method == http.MethodPut && (r.Header.Get("If-Match") != "" || r.Header.Get("If-None-Match") != "")
	case Late:
		return slices.Contains([]string{http.MethodPut, http.MethodPost, http.MethodDelete}, r.Method)
	case SlowUpload, TornUpload:
		return r.ContentLength > 0
	case SlowDownload, TornDownload:
		return r.Method == http.MethodGet
	case StaleList:
		return p.earlier(r) != nil
	default:
		return true
	}
}
