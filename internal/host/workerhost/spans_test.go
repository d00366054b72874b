package workerhost

import (
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
)

// TestSpans: what a worker prints in place of the entry module costs no more memory than spans.
func TestSpans(t *testing.T) {
	t.Parallel()
	h := New(Options{})
	ref := svc.Ref{Project: "p", Version: "v1"}
	const one = `{"trace":"0af7651916cd43dd8448eb211c80319c","id":"b7ad6b7169203331","parent":"b7ad6b7169203332","name":"get","resource":"kv/KV","start":1000,"end":1002}`
	for _, text := range []string{"[" + one + "]", "no JSON", `[{"name":"` + strings.Repeat("x", 1000) + `"}]`} {
		h.opts.spans.add(ref, text)
	}
	got := h.TakeSpans()
	if len(got) != 1 || got[0].Ref != ref || got[0].Name != "get" || got[0].Resource != "kv/KV" || got[0].End.Sub(got[0].Start).Milliseconds() != 2 {
		t.Errorf("%+v", got)
	}
	h.opts.spans.add(ref, "["+strings.Repeat(one+",", maxSpans+10)+one+"]")
	if n := len(h.TakeSpans()); n != maxSpans {
		t.Errorf("%d spans wait, want %d", n, maxSpans)
	}
	if n := len(h.TakeSpans()); n != 0 {
		t.Errorf("%d spans were reported twice", n)
	}
}
