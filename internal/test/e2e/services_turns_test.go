//go:build e2e

package e2e

import (
	"strconv"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// manyRooms makes objects of another worker, all of them at a time.
const manyRooms = `export default { async fetch(request, env) {
  const made = await Promise.all(Array.from({ length: 200 }, (_, i) => env.ROOMS.getByName("many" + i).add(1)));
  return new Response(String(made.length));
} };`

// TestManyObjectsOfAnotherWorker: a worker that makes many objects of another one does not take that
// away from its visitors. Without turns, their requests wait until all objects are made.
func TestManyObjectsOfAnotherWorker(t *testing.T) {
	t.Parallel()
	d := started(t)
	dir := svctest.Files(t, map[string]string{
		"rooms/wrangler.jsonc": `{ "name": "rooms", "main": "index.js", "compatibility_date": "2026-11-01",
			"durable_objects": { "bindings": [{ "name": "ROOMS", "class_name": "Room" }] }, "migrations": [{ "tag": "v1", "new_sqlite_classes": ["Room"] }] }`,
		"rooms/index.js": roomWorker,
		"front/wrangler.jsonc": `{ "name": "front", "main": "index.js", "compatibility_date": "2026-11-01",
			"durable_objects": { "bindings": [{ "name": "ROOMS", "class_name": "Room", "script_name": "rooms" }] } }`,
		"front/index.js": manyRooms,
	})
	if _, notes, code := d.run(dir, "deploy", "-c", "front/wrangler.jsonc", "-c", "rooms/wrangler.jsonc", "--version", "v1", "--wait"); code != 0 {
		t.Fatalf("exit %d, %s", code, notes)
	}
	front, err := d.client().Version(t.Context(), "front", "v1")
	if err != nil {
		t.Fatal(err)
	}
	rooms, err := d.client().Version(t.Context(), "rooms", "v1")
	if err != nil {
		t.Fatal(err)
	}
	d.get(rooms.PreviewURL)
	began, done := time.Now(), make(chan string, 1)
	go func() { done <- d.get(front.PreviewURL).Body }()
	var slowest time.Duration
	for n := 1; ; n++ {
		asked := time.Now()
		d.get(rooms.PreviewURL)
		slowest = max(slowest, time.Since(asked))
		select {
		case made := <-done:
			total := time.Since(began)
			t.Logf("200 objects in %v; the slowest of %d other answers after %v", total, n, slowest)
			if made != strconv.Itoa(200) || slowest > max(time.Second, total/4) {
				t.Errorf("%s, %v", made, slowest)
			}
			return
		default:
		}
	}
}
