//go:build e2e

package e2e

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// counter counts requests in D1, and says which build of it does.
func counter(build string) string {
	return `export default { async fetch(req, env) {
  if (new URL(req.url).pathname === "/url") return new Response(req.url);
  await env.DB.prepare("INSERT INTO hits (build) VALUES (?)").bind("` + build + `").run();
  const n = await env.DB.prepare("SELECT count(*) AS n FROM hits").first("n");
  return new Response("` + build + ` " + n);
} };`
}

func counterFiles() map[string]string {
	return map[string]string{
		"wrangler.jsonc": `{ "name": "count", "main": "src/index.js", "compatibility_date": "2026-11-01",
		  "d1_databases": [{ "binding": "DB", "database_name": "count" }] }`,
		"src/index.js":               counter("one"),
		"migrations/0001_hits.sql":   "CREATE TABLE hits (build TEXT);",
		"README.md":                  "not part of the worker",
		"node_modules/x/index.js":    "",
		"src/unused/not-imported.js": "",
	}
}

// A developer's session: saves keep the data, what does not work leaves the version
// before serving and says where the mistake is, and the next session continues.
// spec: [C1.15]
func TestDev(t *testing.T) {
	t.Parallel()
	d := newDeveloper(t, counterFiles())
	d.start()
	d.await(`save 1  first build  .*ready \S+  \(applied 1 migration: DB/0001_hits.sql\)`)
	d.expect("/", "one 1")
	d.expect("/url?x=%zz", d.address+"/url?x=%zz") // the worker sees the stable address
	if status, body := d.get("/url", "Host:s1.count.localhost"); status != 200 || body != "http://s1.count.localhost/url" {
		t.Errorf("by the version's own host: %d %q", status, body)
	}

	d.write("src/index.js", counter("two"))
	d.await(`save 2  src/index.js  build \S+, ready \S+`)
	d.expect("/", "two 2") // with the data of the version before

	// A build that breaks, a page that shows it, and the way back.
	d.write("src/index.js", "export default { fetch( { } }")
	d.await(`the worker does not build\n +src/index.js:1:\d+: Expected`)
	d.await(`still serving save 2 of`)
	d.expect("/", "two 3")
	d.write("src/index.js", counter("two"))
	d.await(`src/index.js  back to save 2, which serves`)

	// A worker that throws while it loads: the place is that in the source.
	d.write("src/help.ts", "interface X { a: number }\n\nexport const help = (x: X): number => {\n  throw new Error(\"no help\")\n}")
	d.write("src/index.js", `import { help } from "./help.ts"; help({ a: 1 }); `+counter("three"))
	d.await(`The worker throws while it starts\n +Error: no help at src/help.ts:4:9`)
	d.await(`>    4 \|   throw new Error\("no help"\)`)
	d.await(`still serving save 2 of`)
	d.expect("/", "two 4")

	// A migration that fails; then a good one.
	d.write("migrations/0002_more.sql", "CREATE TABLE more (id INTEGER);\nCRATE TABLE less (id INTEGER);\n")
	d.write("src/index.js", counter("four"))
	d.await(`A migration failed\n +migration 0002_more.sql of DB: line 2: .*syntax error`)
	d.await(`> +2 \| CRATE TABLE less`)
	d.await(`still serving save 2 of`)
	d.expect("/", "two 5")
	d.write("migrations/0002_more.sql", "CREATE TABLE more (id INTEGER);\n")
	d.await(`save \d+  migrations/0002_more.sql  .*applied 1 migration: DB/0002_more.sql`)
	d.expect("/", "four 6")

	// What is not part of the worker changes nothing; what is, and has the same content, says so.
	d.write("README.md", "changed")
	d.write("src/index.js", counter("four"))
	d.await(`src/index.js  nothing changed in the bundle`)

	if code := d.interrupt(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if ignore, err := os.ReadFile(filepath.Join(d.dir, ".svcctl/.gitignore")); err != nil || string(ignore) != "*\n" {
		t.Errorf("%q %v", ignore, err)
	}
	d.start()
	d.await(`save \d+  unchanged since .*, ready`)
	d.expect("/", "four 7")
	if code := d.interrupt(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	d.start("--fresh")
	d.await(`save \d+  first build`)
	d.expect("/", "four 1")
}

// What the worker logs is among the lines, with the requests.
func TestDevLogs(t *testing.T) {
	t.Parallel()
	worker := func(word string) string {
		return `console.log("loaded"); export default { fetch() { console.warn("` + word + `"); return new Response("hi"); } }`
	}
	d := newDeveloper(t, map[string]string{
		"wrangler.jsonc": `{ "name": "logs", "main": "index.js", "compatibility_date": "2026-11-01", "observability": { "enabled": true } }`,
		"index.js":       worker("first"),
	})
	d.start()
	d.await(`save 1 `)
	d.expect("/", "hi")
	d.await(`warn first`)
	d.write("index.js", worker("second"))
	d.await(`save 2 `)
	d.expect("/", "hi")
	d.await(`warn second`)
	if n := strings.Count(d.out.String(), "no effect here: observability"); n != 1 {
		t.Errorf("a notice of the project file stands %d times", n)
	}
}

// Until the first version serves, the address shows why it does not.
func TestDevBrokenFromTheBeginning(t *testing.T) {
	t.Parallel()
	d := newDeveloper(t, map[string]string{
		"wrangler.jsonc": `{ "name": "broken", "main": "index.ts", "compatibility_date": "2026-11-01" }`,
		"index.ts":       "import { x } from \"./absent\"\nexport default { fetch: () => new Response(x) }",
	})
	d.start()
	d.await(`waiting for a save that works`)
	status, page := d.get("/", "Accept:text/html")
	if status != http.StatusServiceUnavailable || !strings.Contains(page, `Could not resolve &#34;./absent&#34;`) || !strings.Contains(page, "<script") {
		t.Errorf("%d %s", status, page)
	}
	d.write("absent.ts", `export const x: string = "here"`)
	d.await(`save 1 `)
	d.expect("/", "here")
}

// A second session in the same directory names the first.
func TestDevTwice(t *testing.T) {
	t.Parallel()
	d := newDeveloper(t, counterFiles())
	d.start()
	second := &developer{running: running{t: t}, dir: d.dir, env: d.env}
	out, code := second.run("dev")
	if code != 6 || !strings.Contains(out, "svcctl dev already runs in "+d.dir) ||
		!strings.Contains(out, fmt.Sprintf("process %d, at %s", d.cmd.Process.Pid, d.address)) {
		t.Errorf("%d %s", code, out)
	}
	out, code = second.run("dev", "--cwd", "/")
	if code == 0 || !strings.Contains(out, "no wrangler.jsonc") {
		t.Errorf("%d %s", code, out)
	}
}

// devDrain is how long a switch waits for a request without an answer.
const devDrain = 2 * time.Second

var devSaves = flag.Int("dev.saves", 22, "saves of TestDevSavesUnderLoad")

// Many saves under load: no request fails, none goes back to an older version, and no
// write is lost between versions, but of requests that outlast the switch: those may end
// later than devDrain after the save. Old versions are archived, the oldest destroyed.
func TestDevSavesUnderLoad(t *testing.T) {
	t.Parallel()
	const clients = 4
	saves := *devSaves
	worker := func(n int) string {
		return fmt.Sprintf(`export default { async fetch(req, env) {
  await env.DB.prepare("INSERT INTO hits (build) VALUES ('x')").run();
  return new Response("%d " + await env.DB.prepare("SELECT count(*) AS n FROM hits").first("n"));
} };`, n)
	}
	files := counterFiles()
	files["src/index.js"] = worker(1)
	d := newDeveloper(t, files)
	d.start()
	d.await(`save 1 `)
	var serving, answered, written atomic.Int64
	var writtenAt atomic.Pointer[time.Time] // stored before written
	serving.Store(1)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	defer wg.Wait()
	defer sync.OnceFunc(func() { close(stop) })()
	for range clients {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(8 * time.Millisecond): // leaves room for the tests beside it
				}
				least, before := serving.Load(), answered.Load()
				status, body, err := d.try(http.MethodGet, "/", "")
				var version, count int64
				if n, scanErr := fmt.Sscan(body, &version, &count); err != nil || status != 200 || n != 2 || scanErr != nil || version < least || count <= before {
					t.Errorf("%d %q %v, want version %d or later and more than %d hits", status, body, err, least, before)
					return
				}
				if version >= written.Load() || time.Since(*writtenAt.Load()) < devDrain {
					answered.Add(1)
				}
			}
		})
	}
	for n := 2; n <= saves; n++ {
		writtenAt.Store(new(time.Now()))
		written.Store(int64(n))
		d.write("src/index.js", worker(n))
		d.await(fmt.Sprintf(`save %d  src/index.js`, n))
		serving.Store(int64(n))
	}
	svctest.Eventually(t, "one running version and the last 19 before it", func() bool {
		return statuses(t, d.own(), "count") == "1 ready, 19 archived, 0 failed"
	})
	if n := len(d.saves("count")); n != 20 {
		t.Errorf("%d saves", n)
	}
}

// A switch waits for a request that has not been answered: what it writes is in the data of the next
// version.
func TestDevSlowWrite(t *testing.T) {
	t.Parallel()
	worker := func(n int) string {
		return fmt.Sprintf(`export default { async fetch(req, env) {
  if (new URL(req.url).pathname === "/slow") {
    console.log("began");
    await new Promise((done) => setTimeout(done, 500));
    await env.KV.put("n", "written");
  }
  return new Response("%d " + await env.KV.get("n"));
} };`, n)
	}
	d := newDeveloper(t, map[string]string{
		"wrangler.jsonc": `{ "name": "slow", "main": "src/index.js", "compatibility_date": "2026-11-01", "kv_namespaces": [{ "binding": "KV" }] }`,
		"src/index.js":   worker(1),
	})
	d.start()
	d.await(`save 1 `)
	slow := make(chan string, 1)
	go func() {
		_, body, err := d.try(http.MethodGet, "/slow", "")
		slow <- fmt.Sprint(body, err)
	}()
	d.await(`log +began`)
	d.write("src/index.js", worker(2))
	d.await(`save 2 `)
	if answer := svctest.Wait(t, "the slow answer", slow); answer != "1 written<nil>" {
		t.Error(answer)
	}
	d.expect("/", "2 written")
}

// Websockets close with 1012 when the version behind them is replaced.
func TestDevWebsocket(t *testing.T) {
	t.Parallel()
	worker := func(greeting string) string {
		return `export default { fetch() {
  const [client, server] = Object.values(new WebSocketPair());
  server.accept(); server.send("` + greeting + `");
  return new Response(null, { status: 101, webSocket: client });
} };`
	}
	d := newDeveloper(t, map[string]string{
		"wrangler.jsonc": `{ "name": "socket", "main": "index.js", "compatibility_date": "2026-11-01" }`, "index.js": worker("one"),
	})
	d.start()
	d.await(`save 1 `)
	dial := func() *websocket.Conn {
		c, resp, err := websocket.Dial(t.Context(), d.address, nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body != nil {
			defer resp.Body.Close()
		}
		return c
	}
	read := func(c *websocket.Conn, want string) {
		t.Helper()
		if _, data, err := c.Read(t.Context()); err != nil || string(data) != want {
			t.Errorf("%q %v, want %q", data, err, want)
		}
	}
	c := dial()
	defer c.CloseNow()
	read(c, "one")
	d.write("index.js", worker("two"))
	d.await(`save 2 `)
	if _, _, err := c.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusServiceRestart {
		t.Errorf("the old websocket: %v", err)
	}
	again := dial()
	defer again.CloseNow()
	read(again, "two")
}
