package entry_test

import (
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// collectedAfter is the number of invocations between two collections, as collect.js says.
const collectedAfter = 250

// counted is a worker whose answers are the number of collections so far.
const counted = `let held = false, over = false;
const hold = async () => { held = true; while (!over) await scheduler.wait(1); held = false; };
export default { async fetch(r) {
  const path = new URL(r.url).pathname;
  if (path === "/fails") throw new Error("on purpose");
  if (path === "/long") await hold();
  if (path === "/never") await new Promise(() => {});
  if (path === "/over") over = true;
  if (path === "/held") return new Response(held);
  return new Response(collections);
} }`

// startCounted counts the collections of a worker, each of which takes ms.
func startCounted(t *testing.T, ms string) worker {
	t.Helper()
	gc := "globalThis.collections = 0; globalThis.gc = () => { collections++; for (const began = Date.now(); Date.now() - began < " + ms + "; ); };\n"
	return startChanged(t, func(c *workerd.Config) {
		for i, m := range c.Extensions {
			if m.Name == "svc-internal:collect" {
				c.Extensions[i].Source = gc + m.Source
			}
		}
	}, "2026-11-17", esm("index.js", counted))
}

// repeat sends a request n times, and waits until a later one finds the wanted number of collections.
func (w worker) repeat(t *testing.T, n int, path, want string) {
	t.Helper()
	for range n {
		w.get(path)
	}
	if want != "" {
		svctest.Eventually(t, want+" collections", func() bool { return w.get("/") == "200 "+want })
	}
}

// Garbage is collected after 250 invocations, whether they fail or not.
func TestCollectsBetweenRequests(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/", "/fails"} {
		t.Run(strings.Trim(path, "/"), func(t *testing.T) {
			t.Parallel()
			w := startCounted(t, "0")
			w.repeat(t, collectedAfter-10, path, "0")
			w.repeat(t, 20, path, "1")
			w.repeat(t, collectedAfter, path, "2")
			svctest.Eventually(t, "the work of collections", func() bool { return w.waiting() == "200 0" })
		})
	}
}

// A request that is under way puts the collection off.
func TestCollectsWhenNothingIsUnderWay(t *testing.T) {
	t.Parallel()
	w := startCounted(t, "0")
	ended := make(chan string, 1)
	go func() { ended <- w.get("/long") }()
	svctest.Eventually(t, "the long request", func() bool { return w.get("/held") == "200 true" })
	w.repeat(t, 2*collectedAfter, "/", "0")
	w.get("/over")
	if got := <-ended; got != "200 0" {
		t.Errorf("the long request: %s", got)
	}
	w.repeat(t, 1, "/", "1")
}

// workerd ends some invocations without a word, such as those that wait for nothing: their promises do not
// settle. They put collections off for a while only.
func TestCollectsAfterAbandonedRequests(t *testing.T) {
	t.Parallel()
	w := startCounted(t, "0")
	w.get("/never")
	w.repeat(t, 4*collectedAfter-10, "/", "0")
	w.repeat(t, 20, "/", "1")
	w.repeat(t, collectedAfter, "/", "2")
}

// A worker whose collections are long has fewer of them.
func TestCollectsLargeHeapsSeldom(t *testing.T) {
	t.Parallel()
	w := startCounted(t, "20")
	for _, want := range []string{"1", "2", "3"} {
		w.repeat(t, collectedAfter+5, "/", want)
	}
	w.repeat(t, 2*collectedAfter, "/", "3")
}

// The worker does not see the function that collects, in any of its modules, and runs without it.
func TestCollectIsHidden(t *testing.T) {
	t.Parallel()
	const source = `import { seen } from "./lib.js";
export default { fetch: () => Response.json([typeof gc, typeof globalThis.gc, seen]) }`
	for name, flags := range map[string][]string{"with": {"--expose-gc"}, "without": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := startWith(t, flags, "2026-11-17", esm("index.js", source), esm("lib.js", `export const seen = typeof globalThis.gc;`))
			for range collectedAfter + 1 {
				if got, want := w.get("/"), `200 ["undefined","undefined","undefined"]`; got != want {
					t.Fatalf("got %s, want %s", got, want)
				}
			}
		})
	}
}
