package supervisor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

// eater takes memory outside of V8's heap: the limit of the heap does not cover it.
const eater = `const kept = []
	export default { async fetch(req) {
		if (!req.url.endsWith("eat")) return new Response("hello")
		for (let i = 0; i < 4000; i++) {
			kept.push(new Uint8Array(1 << 20).fill(1))
			if (i % 8 == 0) await scheduler.wait(1)
		}
		return new Response("ate 4 GB")
	} }`

// TestMemoryLimit: a worker whose typed arrays exceed the limit of memory is ended, and
// serves again; the state and the log have the reason.
func TestMemoryLimit(t *testing.T) {
	t.Parallel()
	h := start(t, func(c *options) { c.Host.MemoryMB = 192 })
	spec := h.spec(eater, nil)
	first := h.mustServe(spec)
	if _, body, err := get(t.Context(), first.Socket, "/eat"); err == nil {
		t.Errorf("it has enough memory: %s", body)
	}
	h.want(h.await(svc.RuntimeServing, 2), "/", "hello")
	if r := h.Runtimes()[0]; !strings.HasPrefix(r.LastError, "out_of_memory: the worker and its host used ") || !strings.HasSuffix(r.LastError, "limit is 192 MiB") {
		t.Errorf("runtime: %+v", r)
	}
	if r := h.Measured()[0]; r.CPU <= 0 || r.RSSBytes <= 0 {
		t.Errorf("it used %s and %d bytes", r.CPU, r.RSSBytes)
	}
	if lines := logTail(t, spec, 100); !slices.ContainsFunc(lines, func(l svc.LogLine) bool { return strings.Contains(l.Message, "limit is 192 MiB") }) {
		t.Errorf("the log: %+v", lines)
	}
}

// TestMemoryLimitOfWasm: memory of WebAssembly counts, which is outside of V8's heap too.
func TestMemoryLimitOfWasm(t *testing.T) {
	t.Parallel()
	h := start(t, func(c *options) { c.Host.MemoryMB = 192 })
	first := h.mustServe(h.spec(`const memory = new WebAssembly.Memory({ initial: 0, maximum: 65536 })
		export default { async fetch(req) {
			if (!req.url.endsWith("eat")) return new Response("hello")
			for (let i = 0; i < 256; i++) {
				const at = memory.grow(128) * 65536
				new Uint8Array(memory.buffer, at).fill(1)
				await scheduler.wait(1)
			}
			return new Response("ate 2 GB")
		} }`, nil))
	if _, body, err := get(t.Context(), first.Socket, "/eat"); err == nil {
		t.Errorf("it has enough memory: %s", body)
	}
	h.want(h.await(svc.RuntimeServing, 2), "/", "hello")
	if r := h.Runtimes()[0]; !strings.HasPrefix(r.LastError, "out_of_memory: the worker and its host used ") {
		t.Errorf("runtime: %+v", r)
	}
}

// TestMemoryLimitAtStart: the limit holds while the modules are loaded.
func TestMemoryLimitAtStart(t *testing.T) {
	t.Parallel()
	h := start(t, func(c *options) { c.Host.MemoryMB = 128 })
	_, err := h.serve(h.spec(`const kept = []
		for (let i = 0; i < 4000; i++) kept.push(new Uint8Array(1 << 20).fill(1))
		export default { fetch() { return new Response("hello") } }`, nil))
	if svc.CodeOf(err) != svc.CodeOutOfMemory {
		t.Errorf("it started: %v", err)
	}
}

// TestProjectMemory: a project sets a limit of its own, up to the operator's.
func TestProjectMemory(t *testing.T) {
	t.Parallel()
	h := start(t, func(c *options) { c.Host.MemoryMB, c.Host.MemoryMaxMB = 96, 256 })
	limited := func(mb int) func(*bundle.Manifest) {
		return func(m *bundle.Manifest) { m.Limits = &bundle.RuntimeLimits{MemoryMB: mb} }
	}
	code := fmt.Sprintf(`const kept = new Uint8Array(%d).fill(1)
		export default { async fetch() { await scheduler.wait(1000); return new Response("has " + kept.length) } }`, 128<<20)
	h.want(h.mustServe(h.spec(code, limited(256))), "/", "has 134217728")
	spec := h.spec(code, limited(257))
	spec.Ref.Version = "v-2"
	if err := h.Open(t.Context(), spec); svc.CodeOf(err) != svc.CodeMemoryLimitTooHigh {
		t.Errorf("more than the operator allows: %v", err)
	}
}

// keeper keeps as many MiB of objects in V8's heap as the path says.
const keeper = `const kept = []
	export default { fetch(req) {
		const mib = Number(new URL(req.url).pathname.slice(1))
		while (kept.length < mib * 1024) { // rows of 1 KiB
			const i = kept.length
			kept.push(Array.from({ length: 16 }, (_, k) => ({ a: i + 0.5, b: "k" + k + i })))
		}
		return new Response("keeps " + kept.length / 1024)
	} }`

// TestHeapToKeep: the V8 flags of a version whose memory is limited leave it a heap of 120 MiB,
// and what workerd prints because of them is not in the version's log.
func TestHeapToKeep(t *testing.T) {
	t.Parallel()
	h := start(t, func(c *options) { c.Host.MemoryMB = 512 })
	spec := h.spec(keeper, nil)
	e := h.mustServe(spec)
	h.want(e, "/120", "keeps 120")
	if mib := h.Measured()[0].RSSBytes >> 20; mib < 120 {
		t.Errorf("host and workerd use %d MiB: the worker keeps nothing", mib)
	}
	for _, line := range logTail(t, spec, 100) {
		t.Errorf("in the log: %+v", line)
	}
}
