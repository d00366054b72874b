package tracing

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/lib/otlp"
	"github.com/svcctl/svcctl/internal/svc"
)

// Recorder receives spans.
type Recorder interface{ Record(s otlp.Span) }

// Tracer makes spans. A nil one makes none. It is safe for concurrent use.
type Tracer struct {
	to    Recorder
	ratio float64
}

// New returns a Tracer. It records all traces that a client records, and this part of the
// others, from 0 to 1.
func New(to Recorder, ratio float64) *Tracer { return &Tracer{to, ratio} }

// Sampled reports whether a trace that begins here is recorded. trace is its id, 32 hex
// digits: every process decides the same.
func (t *Tracer) Sampled(trace []byte) bool {
	var id [16]byte
	if _, err := hex.Decode(id[:], trace); err != nil {
		return false
	}
	return t.ratio >= 1 || float64(binary.BigEndian.Uint64(id[8:])>>1) < t.ratio*math.MaxInt64
}

// Request is a request to a worker that has ended. IDs are hex digits.
type Request struct {
	Trace, ID, Parent []byte // Parent is nil for the first span of a trace
	Ref               svc.Ref
	Role              svc.Role
	Method, Path      string
	Status            int
	Error             string // code of the gateway's own response
	Threw             bool   // the worker threw
	Start             time.Time
	Duration          time.Duration
}

// Request records the span of a request.
func (t *Tracer) Request(r *Request) {
	if t == nil {
		return
	}
	s := otlp.Span{
		Name: r.Method, Kind: otlp.Server, Start: r.Start, End: r.Start.Add(r.Duration), Failed: r.Status >= 500 || r.Threw,
		Attrs: append(of(r.Ref), otlp.String("svc.role", string(r.Role)), otlp.String("http.request.method", r.Method),
			otlp.String("url.path", r.Path), otlp.Int("http.response.status_code", int64(r.Status))),
	}
	switch {
	case r.Threw:
		s.Attrs = append(s.Attrs, otlp.String("error.type", "exception"))
	case r.Error != "":
		s.Attrs = append(s.Attrs, otlp.String("error.type", r.Error))
	}
	if decode(s.Trace[:], r.Trace) && decode(s.ID[:], r.ID) && (r.Parent == nil || decode(s.Parent[:], r.Parent)) {
		t.to.Record(s)
	}
}

// Worker records spans that a worker host reports. A span whose ids are invalid is dropped.
func (t *Tracer) Worker(list []svc.Span) {
	if t == nil {
		return
	}
	for i := range list {
		r := &list[i]
		s := otlp.Span{Name: r.Name, Kind: otlp.Internal, Start: r.Start, End: r.End, Failed: r.Failed, Attrs: of(r.Ref)}
		if kind, _, isCall := strings.Cut(r.Resource, "/"); isCall {
			s.Name, s.Kind = kind+" "+r.Name, otlp.Client
			s.Attrs = append(s.Attrs, otlp.String("svc.resource", r.Resource))
		}
		if decode(s.Trace[:], []byte(r.Trace)) && decode(s.ID[:], []byte(r.ID)) && decode(s.Parent[:], []byte(r.Parent)) {
			t.to.Record(s)
		}
	}
}

func decode(to, from []byte) bool {
	n, err := hex.Decode(to, from[:min(len(from), 2*len(to))])
	return err == nil && n == len(to)
}

func of(ref svc.Ref) []otlp.Attr {
	return []otlp.Attr{otlp.String("svc.project", ref.Project), otlp.String("svc.version", ref.Version)}
}

// StepEnded records the span of a step of a deploy.
func (t *Tracer) StepEnded(v svc.Version, step string, began time.Time, err error) {
	if t == nil {
		return
	}
	s := otlp.Span{Name: step, Kind: otlp.Internal, Start: began, End: time.Now(), Failed: err != nil, Attrs: of(v.Ref)}
	s.Trace, s.Parent = deploy(v)
	binary.LittleEndian.PutUint64(s.ID[:], rand.Uint64()|1) //nolint:gosec // no secret
	if err != nil {
		s.Attrs = append(s.Attrs, otlp.String("error.type", cmp.Or(svc.CodeOf(err), "_OTHER")))
	}
	t.to.Record(s)
}

// DeployEnded records the first span of a deploy, from the creation of the version. result is
// "ready" or "failed".
func (t *Tracer) DeployEnded(v svc.Version, result string) {
	if t == nil {
		return
	}
	s := otlp.Span{Name: "deploy", Kind: otlp.Internal, Start: v.CreatedAt, End: time.Now(), Failed: result == "failed", Attrs: append(of(v.Ref), otlp.String("svc.result", result))}
	s.Trace, s.ID = deploy(v)
	t.to.Record(s)
}

// deploy returns the trace of a deploy and its first span. They are the same after a restart,
// so that the steps of a deploy that resumes are in one trace.
func deploy(v svc.Version) (trace [16]byte, first [8]byte) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", v.Ref, v.CreatedAt.UnixMilli()))
	copy(trace[:], sum[:16])
	copy(first[:], sum[16:])
	return trace, first
}
