package durableobject_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/durableobject"
	"github.com/svcctl/svcctl/internal/host/entry"
)

// slowRooms is a worker whose objects keep the thread for 20 ms when they are opened, on any disk. The
// loop ends also where the clock stands still meanwhile.
const slowRooms = `
import { DurableObject } from "cloudflare:workers";
export class Room extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    for (let i = 0, end = Date.now() + 20; i < 1e8 && Date.now() < end; i++);
  }
  hello() { return 1; }
}
export default { async fetch(request, env, ctx) {
  const { pathname, searchParams: q } = new URL(request.url);
  if (pathname === "/quick") return new Response("quick");
  if (pathname === "/env") return new Response(Object.keys(env).join());
  const rooms = env.ROOMS ?? ctx.exports.Room;
  try {
    const made = await Promise.all(Array.from({ length: q.get("n") }, (_, i) => rooms.getByName(q.get("name") + i).hello()));
    return new Response(String(made.length));
  } catch (e) {
    return new Response(e.message + " overloaded: " + e.overloaded);
  }
} };`

// TestTooManyObjects: calls that get no turn for too long fail and say so; those that get turns
// succeed, and so do calls after that.
func TestTooManyObjects(t *testing.T) {
	t.Parallel()
	const requests = 50
	c := serveObjects(t, slowRooms, durableobject.Namespace("ROOMS", "Room", binding.Site{}), "500")
	var answers []<-chan string
	for n := range requests {
		answers = append(answers, making(t.Context(), c, 4, fmt.Sprintf("a%d-", n)))
	}
	failed := 0
	for _, answer := range answers {
		switch text := <-answer; {
		case text == "4":
		case strings.HasPrefix(text, "Too many new Durable Objects: this call waited 0.5 seconds for its turn, and ") && strings.HasSuffix(text, " overloaded: true"):
			failed++
		default:
			t.Error(text)
		}
	}
	t.Logf("%d of %d requests failed", failed, requests)
	if failed == 0 || failed == requests {
		t.Errorf("%d of %d requests failed", failed, requests)
	}
	if text := <-making(t.Context(), c, 4, "b"); text != "4" {
		t.Error(text)
	}
}

// TestObjectsOfExports: in a worker without a binding to objects, those that it reaches by ctx.exports
// take turns, too. It does not see what gives them.
func TestObjectsOfExports(t *testing.T) {
	t.Parallel()
	c := serveObjects(t, slowRooms, durableobject.Namespace(entry.Objects, "Room", binding.Site{}), "")
	if text, err := ask(t.Context(), c, "/env"); err != nil || text != "" {
		t.Errorf("the worker sees %s, %v", text, err)
	}
	served := c.servedMeanwhile(t, 100)
	if served < 5 {
		t.Errorf("%d other requests were answered while 100 objects were made", served)
	}
}

// servedMeanwhile makes n objects in one request, and counts the requests that are answered meanwhile.
func (c roomsClient) servedMeanwhile(t *testing.T, n int) (served int) {
	t.Helper()
	began := time.Now()
	done := making(t.Context(), c, n, "a")
	for {
		if _, err := ask(t.Context(), c, "/quick"); err != nil {
			t.Fatal(err)
		}
		select {
		case text := <-done:
			t.Logf("%d objects in %s; %d other answers", n, time.Since(began), served)
			if text != fmt.Sprint(n) {
				t.Error(text)
			}
			return served
		default:
			served++
		}
	}
}
