package queues_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestRelease: the version that a release makes begins with the queues of its parent: ready, delayed
// and dead messages and pauses. A message whose batch did not end is ready there immediately, as one of a
// process that died, and the batch counts as an attempt. What the parent does afterwards stays there.
func TestRelease(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dying := quick("dying")
	dying.MaxRetries, dying.DeadLetterQueue = new(0), "dead"
	consumers := []bundle.QueueConsumer{quick("ready"), quick("leased"), dying, quick("dead")}
	w := open(t, bindingtest.OpenVolumes(t, dir), consumers...)
	for _, queue := range []string{"ready", "dead"} {
		w.want("POST", "/queues/"+queue+"/pause", "", `{"name":"`+queue+`","paused":true,`)
	}
	w.send("ready", "sendBatch", batch("one", "two"))
	w.send("ready", "send", "late", object{"delaySeconds": 3600})
	w.send("dying", "send", object{"do": "throw"})
	w.send("leased", "send", object{"do": "wait", "ms": 600_000})
	w.post(args{"running", "leased"})
	const dead = `{"do":"throw"} ready 0 from dying`
	svctest.Eventually(t, "the dead message", func() bool { return slices.Equal(w.peeked("/queues/dead/messages"), []string{dead}) })

	child := &world{t: t, set: openSet(t, bindingtest.Release(t, dir, "v2"), consumers...)}
	w.worker.Kill()
	w.want("POST", "/queues/ready/purge", "", `{"purged":3}`)
	for path, want := range map[string][]string{
		"ready/messages?state=ready": {`"one" ready 0`, `"two" ready 0`}, "ready/messages?state=delayed": {`"late" delayed 0`},
		"dying/messages": nil, "dead/messages": {dead}, "leased/messages": {`{"do":"wait","ms":600000} ready 1`},
	} {
		if diff := cmp.Diff(want, child.peeked("/queues/"+path)); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
	child.want("GET", "/queues/ready", "", `{"name":"ready","paused":true,"ready":2,"delayed":1,"inflight":0,`)
	child.worker = bindingtest.Start(t, child.set, script)
	child.start()
	child.post(args{"running", "leased"})
	child.want("POST", "/queues/ready/resume", "", `{"name":"ready","paused":false,`)
	got := child.seen(3)
	if diff := cmp.Diff([]string{"one 1", "two 1"}, order(got, "ready")); diff != "" {
		t.Error(diff)
	}
	if again := order(got, "leased"); len(again) != 1 || !strings.HasSuffix(again[0], " 2") {
		t.Errorf("the message whose batch did not end: %q", again)
	}
	child.worker.Kill()
}
