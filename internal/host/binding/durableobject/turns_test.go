package durableobject_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/durableobject"
	"github.com/svcctl/svcctl/internal/host/entry"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/host/workerd/workerdtest"
)

// rooms is a worker whose requests call objects, new ones by their names.
const rooms = `
import { DurableObject, RpcTarget } from "cloudflare:workers";
class Inner extends RpcTarget { twice(n) { return 2 * n; } get self() { return this; } }
export class Room extends DurableObject {
  async add(n) { await this.ctx.storage.put("n", (await this.ctx.storage.get("n") ?? 0) + n); return this.ctx.storage.get("n"); }
  list(value) { (this.seen ??= []).push(value.n); return this.seen; }
  inner() { return new Inner(); }
  fail() { throw new TypeError("on purpose"); }
  get size() { return 7; }
  async fetch(request) { return new Response(String(await this.add(1)) + await request.text()); }
}
const paths = {
  async "/quick"() { return "quick"; },
  // make makes n objects, all of them at a time.
  async "/make"(env, q, ctx) {
    const name = q.get("name");
    const made = await Promise.all(Array.from({ length: q.get("n") }, (_, i) => env.ROOMS.getByName(name + i).add(1)));
    return made.length;
  },
  // uses is one object of each kind of call.
  async "/uses"(env, q) {
    const stub = (what) => env.ROOMS.get(env.ROOMS.idFromName(q.get("name") + what));
    const value = { n: 1 }, list = stub("list");
    const first = list.list(value);
    value.n = 2;
    const second = list.list(value);
    const failed = stub("fail").fail().catch((e) => e.name + ": " + e.message);
    const thrown = (async () => { try { await stub("thrown").fail(); } catch (e) { return e.name; } })();
    const inner = stub("inner").inner();
    const one = stub("same");
    return JSON.stringify(await Promise.all([
      stub("fetch").fetch("http://x/", { method: "POST", body: "!" }).then((r) => r.text()), first, second, failed, thrown,
      stub("property").size, stub("pipelined").inner().twice(2), inner.self.twice(3), stub("then").add(1).then((n) => n + 1),
      one instanceof Object.getPrototypeOf(one).constructor, one.name, String(one.id).length, one.add(1), one.add(2), one.then === undefined, "add" in stub("has"), "then" in stub("has"),
    ]));
  },
};
export default { async fetch(request, env, ctx) {
  const { pathname, searchParams } = new URL(request.url);
  return new Response(String(await paths[pathname](env, searchParams, ctx)));
} };`

// serveRooms starts the worker with its objects on the disk.
func serveRooms(t *testing.T) roomsClient {
	t.Helper()
	d := bundle.Binding{Name: "ROOMS", Kind: "durable_object", Resource: "Room", Config: json.RawMessage(`{"class_name": "Room"}`)}
	return serveObjects(t, rooms, durableobject.Kind{}.Wire(d, binding.Site{}), "")
}

// serveObjects starts a worker with the class Room, whose objects it reaches by a wiring. patience is
// how long a call waits for its turn; "" for as long as ever.
func serveObjects(t *testing.T, source string, w binding.Wiring, patience string) roomsClient {
	t.Helper()
	dir := bindingtest.Dir(t)
	objects := filepath.Join(dir, "objects")
	if err := os.Mkdir(objects, 0o700); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	hidden := w.Binding.Name == entry.Objects
	worker := &workerd.Worker{
		Modules:           entry.Before([]workerd.Module{{Name: "index.js", Type: workerd.ESModule, Source: source}}, false, hidden),
		CompatibilityDate: "2026-11-17", ObjectStorage: "objects", ObjectClasses: []workerd.ObjectClass{{Name: "Room", Key: "Room", SQL: true}},
	}
	config := workerd.Config{
		Services:   []workerd.Service{{Name: "main", Worker: worker}, {Name: "objects", Disk: &workerd.Disk{Path: objects, Writable: true}}},
		Sockets:    []workerd.Socket{{Name: "http", Address: "unix:" + socket, Service: workerd.ServiceRef{Name: "main"}}},
		Extensions: entry.Extensions(0, false, false),
	}
	worker.Bindings = binding.AddTo(&config, []binding.Wiring{w})
	if patience != "" {
		setPatience(t, config.Extensions, patience)
	}
	return roomsClient{workerdtest.Serve(t, config, socket), filepath.Join(objects, "Room")}
}

// setPatience replaces the time in the text of the module that has it.
func setPatience(t *testing.T, modules []workerd.Module, to string) {
	t.Helper()
	const patience = "const PATIENCE = 5000;"
	for i, m := range modules {
		if strings.Contains(m.Source, patience) {
			modules[i].Source = strings.Replace(m.Source, patience, "const PATIENCE = "+to+";", 1)
			return
		}
	}
	t.Fatalf("no module has %q", patience)
}

type roomsClient struct {
	*http.Client

	dir string // of the files of objects
}

// objects is how many objects have a file.
func (c roomsClient) objects() int {
	files, _ := filepath.Glob(filepath.Join(c.dir, "*.sqlite")) // the pattern is valid
	return len(files)
}

func ask(ctx context.Context, c roomsClient, path string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://worker.test"+path, nil)
	if err != nil {
		return "", err
	}
	resp, err := c.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

// making starts a request that makes n objects. The channel gets its answer.
func making(ctx context.Context, c roomsClient, n int, name string) <-chan string {
	done := make(chan string, 1)
	go func() {
		text, err := ask(ctx, c, fmt.Sprintf("/make?n=%d&name=%s", n, name))
		if err != nil {
			text = err.Error()
		}
		done <- text
	}()
	return done
}

// TestOthersAreServed: while one request makes many objects, the version answers others, also those that
// make an object. Without turns, the first other answer comes after the last object.
func TestOthersAreServed(t *testing.T) {
	t.Parallel()
	const many = 400
	c := serveRooms(t)
	began := time.Now()
	done := making(t.Context(), c, many, "a")
	var slowest time.Duration
	for n := 0; ; n++ {
		for _, path := range []string{"/quick", fmt.Sprintf("/make?n=1&name=other%d-", n)} {
			asked := time.Now()
			if _, err := ask(t.Context(), c, path); err != nil {
				t.Fatal(err)
			}
			slowest = max(slowest, time.Since(asked))
		}
		select {
		case answer := <-done:
			total := time.Since(began)
			t.Logf("%d objects in %v; the slowest of %d other answers after %v", many, total, 2*(n+1), slowest)
			if answer != strconv.Itoa(many) || slowest > max(time.Second, total/4) {
				t.Errorf("%s, %v", answer, slowest)
			}
			return
		default:
		}
	}
}

// TestClientLeaves: objects that wait to be made are not made once the client has left.
func TestClientLeaves(t *testing.T) {
	t.Parallel()
	const many = 5000
	c := serveRooms(t)
	ctx, leave := context.WithCancel(t.Context())
	done := making(ctx, c, many, "a")
	for range 3 {
		if text, err := ask(t.Context(), c, "/quick"); err != nil || text != "quick" {
			t.Fatal(text, err)
		}
	}
	leave()
	<-done
	if text, err := ask(t.Context(), c, "/make?n=20&name=b"); err != nil || text != "20" {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := ask(t.Context(), c, "/uses?name=c"); err != nil {
		t.Error(err)
	}
	if n := c.objects(); n > many/2 {
		t.Errorf("%d objects were made", n)
	}
}

// TestCallsThatWait: a call that waits for its turn does what another one does.
func TestCallsThatWait(t *testing.T) {
	t.Parallel()
	c := serveRooms(t)
	const want = `["1!",[1],[1,2],"TypeError: on purpose","TypeError",7,4,6,2,true,"NAMEsame",64,1,3,true,true,false]`
	uses := func(name string) {
		t.Helper()
		text, err := ask(t.Context(), c, "/uses?name="+name)
		if expected := strings.ReplaceAll(want, "NAME", name); err != nil || text != expected {
			t.Errorf("%s, %v\nwant %s", text, err, expected)
		}
	}
	uses("immediately-")
	done := making(t.Context(), c, 400, "a")
	if _, err := ask(t.Context(), c, "/quick"); err != nil {
		t.Fatal(err)
	}
	uses("waits-")
	select {
	case <-done:
		t.Error("no call waited")
	default:
	}
	if got := <-done; got != "400" {
		t.Error(got)
	}
	uses("again-")
}
