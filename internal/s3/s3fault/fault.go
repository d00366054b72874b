package s3fault

import (
	"net/http"
	"slices"
	"time"
)

// Kind is one way to fail.
type Kind int

// The kinds. Those "before" keep the request from the store; after the others
// the store has done, or will do, what was asked.
const (
	None         Kind = iota // no fault: for Next
	ServerError              // 500 InternalError, before
	SlowDown                 // 503 SlowDown, before
	Conflict                 // 409 ConditionalRequestConflict for a conditional PUT, before
	ResetBefore              // the connection is reset, before
	ResetAfter               // the connection is reset once the store has answered
	Late                     // the connection is reset, and the store gets the write Faults.Delay later
	Hang                     // no answer until the client gives up, before
	HangAfter                // no answer until the client gives up; the store has answered
	SlowUpload               // the body of the request takes Faults.Slow
	SlowDownload             // the body of the answer takes Faults.Slow
	TornUpload               // the body of the request ends in the middle, then the connection is reset
	TornDownload             // the body of the answer ends in the middle
	StaleList                // a listing is the one before, at most Faults.Stale old
	kinds                    // how many there are
)

//nolint:gochecknoglobals // a table
var names = [kinds]string{
	"none", "500", "503", "409", "reset before", "reset after", "late", "hang", "hang after",
	"slow upload", "slow download", "torn upload", "torn download", "stale list",
}

func (k Kind) String() string { return names[k] }

// All gives every kind but None.
func All() []Kind {
	all := make([]Kind, 0, kinds)
	for k := None + 1; k < kinds; k++ {
		all = append(all, k)
	}
	return all
}

// Faults say what requests meet. The zero value is an honest proxy.
type Faults struct {
	Rate    float64                  // the odds that a request meets a fault, 0 to 1
	Kinds   []Kind                   // those that occur, equally often among those a request can meet; nil for All
	Match   func(*http.Request) bool // the requests that may meet one; nil for all
	Seed    uint64                   // of the dice, which Set begins anew
	Latency time.Duration            // added to every request, faulty or not
	Slow    time.Duration            // how long a slow body takes: 200 ms when 0
	Stale   time.Duration            // how old a stale listing may be: 2 s when 0
	Delay   time.Duration            // how late a late write is: 100 ms when 0
}

// isList tells a listing from the reading of an object.
func isList(r *http.Request) bool {
	return r.Method == http.MethodGet && (r.URL.Query().Has("list-type") || r.URL.Query().Has("prefix"))
}

// choose throws the dice for r. p.mu is held.
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

// applies tells whether r can meet k. p.mu is held.
func (p *Proxy) applies(k Kind, r *http.Request) bool {
	switch k { //nolint:exhaustive // the others suit every request
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
