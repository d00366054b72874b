package tracing_test

import (
	"errors"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/lib/otlp"
	"github.com/svcctl/svcctl/internal/server/tracing"
	"github.com/svcctl/svcctl/internal/svc"
)

type list []otlp.Span

func (l *list) Record(s otlp.Span) { *l = append(*l, s) }

const trace = "0102030405060708090a0b0c0d0e0f10"

func TestRequest(t *testing.T) {
	t.Parallel()
	var got list
	tracer := tracing.New(&got, 1)
	r := tracing.Request{Trace: []byte(trace), ID: []byte("1112131415161718"), Method: "GET", Path: "/", Status: 200, Start: time.Unix(9, 0), Duration: time.Second}
	tracer.Request(&r)
	r.Parent, r.Status, r.Threw = []byte("2122232425262728"), 500, true
	tracer.Request(&r)
	r.Trace = []byte("short")
	tracer.Request(&r)
	if len(got) != 2 {
		t.Fatalf("%+v", got)
	}
	first, second := got[0], got[1]
	if first.Trace[0] != 1 || first.Trace[15] != 16 || first.ID[7] != 0x18 || first.Parent != [8]byte{} || first.Failed || first.Kind != otlp.Server || first.End != time.Unix(10, 0) {
		t.Errorf("%+v", first)
	}
	if second.Parent[0] != 0x21 || !second.Failed {
		t.Errorf("%+v", second)
	}
}

// TestDeploy: the steps of a deploy are below its first span, also those of a process before.
func TestDeploy(t *testing.T) {
	t.Parallel()
	var got list
	v := svc.Version{Ref: svc.Ref{Project: "shop", Version: "v1"}, CreatedAt: time.UnixMilli(5)}
	tracing.New(&got, 0).StepEnded(v, "fetching", time.Unix(1, 0), nil)
	tracer := tracing.New(&got, 0)
	tracer.StepEnded(v, "preparing", time.Unix(2, 0), errors.New("secret"))
	tracer.DeployEnded(v, "failed")
	v.Version = "v2"
	tracer.DeployEnded(v, "ready")
	if len(got) != 4 {
		t.Fatalf("%+v", got)
	}
	root := got[2]
	for i, step := range got[:2] {
		if step.Trace != root.Trace || step.Parent != root.ID || step.ID == root.ID || step.Error != "" || step.Failed != (i == 1) {
			t.Errorf("%+v below %+v", step, root)
		}
	}
	if root.Parent != [8]byte{} || !root.Failed || !root.Start.Equal(v.CreatedAt) || got[3].Trace == root.Trace || got[3].Failed {
		t.Errorf("%+v, %+v", root, got[3])
	}
}

func TestSampled(t *testing.T) {
	t.Parallel()
	low, high := []byte("ffffffffffffffff0000000000000001"), []byte("0000000000000001ffffffffffffffff")
	for _, tc := range []struct {
		ratio     float64
		low, high bool
	}{{0, false, false}, {0.5, true, false}, {1, true, true}} {
		tracer := tracing.New(&list{}, tc.ratio)
		if tracer.Sampled(low) != tc.low || tracer.Sampled(high) != tc.high {
			t.Errorf("ratio %v: %v, %v", tc.ratio, tracer.Sampled(low), tracer.Sampled(high))
		}
	}
}

// TestWorker: a call of a binding is named after its kind and method; spans with invalid ids
// are dropped.
func TestWorker(t *testing.T) {
	t.Parallel()
	var got list
	invocation := svc.Span{Trace: trace, ID: "1112131415161718", Parent: "2122232425262728", Name: "fetch", Start: time.Unix(1, 0), End: time.Unix(2, 0)}
	call := invocation
	call.ID, call.Parent, call.Name, call.Resource, call.Failed = "3132333435363738", invocation.ID, "get", "kv/KV", true
	invalid := invocation
	invalid.ID = "x"
	tracing.New(&got, 0).Worker([]svc.Span{invocation, invalid, call})
	if len(got) != 2 || got[0].Name != "fetch" || got[0].Kind != otlp.Internal || got[0].Failed {
		t.Fatalf("%+v", got)
	}
	if s := got[1]; s.Name != "kv get" || s.Kind != otlp.Client || s.Parent != got[0].ID || !s.Failed {
		t.Errorf("%+v", s)
	}
	var none *tracing.Tracer
	none.Worker([]svc.Span{invocation})
}
