//go:build e2e && linux

package e2e

import (
	"testing"

	"github.com/coder/websocket"

	"github.com/svcctl/svcctl/pkg/api"
)

// siteWorker counts in memory and in D1, and reads files through its binding.
const siteWorker = `let memory = 0;
export default { async fetch(req, env) {
  switch (new URL(req.url).pathname) {
  case "/through": return env.ASSETS.fetch("http://assets/style.css");
  case "/socket": {
    const [client, server] = Object.values(new WebSocketPair());
    server.accept(); server.addEventListener("message", (m) => server.send(m.data));
    return new Response(null, { status: 101, webSocket: client });
  } }
  await env.DB.prepare("INSERT INTO hits (build) VALUES ('x')").run();
  return new Response("memory " + ++memory + " data " + await env.DB.prepare("SELECT count(*) AS n FROM hits").first("n"));
} };`

// A save of static files alone is a version, and restarts nothing: the worker keeps its
// memory and its websockets, and reads the new files. Each of the saves can be gone back
// to, with the data of its time.
// spec: [C1.15]
func TestDevStaticFiles(t *testing.T) {
	t.Parallel()
	d := newDeveloper(t, map[string]string{
		"wrangler.jsonc": `{ "name": "site", "main": "src/index.js", "compatibility_date": "2026-11-01",
		  "assets": { "directory": "public", "binding": "ASSETS" },
		  "d1_databases": [{ "binding": "DB", "database_name": "site" }] }`,
		"src/index.js":             siteWorker,
		"public/style.css":         "one",
		"migrations/0001_hits.sql": "CREATE TABLE hits (build TEXT);",
	})
	term := d.startInTerminal()
	d.await(`save 1 `)
	d.expect("/", "memory 1 data 1")
	d.expect("/through", "one")
	socket, resp, err := websocket.Dial(t.Context(), d.address+"/socket", nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp.Body != nil {
		defer resp.Body.Close()
	}
	defer socket.CloseNow()

	for n, word := range []string{"two", "three"} {
		d.write("public/style.css", word)
		d.await(`save \d  public/style.css  build .*nothing was restarted`)
		d.expect("/style.css", word)
		d.expect("/through", word)
		d.expect("/", map[int]string{0: "memory 2 data 2", 1: "memory 3 data 3"}[n])
	}
	d.write("public/new.txt", "a new file")
	d.await(`save 4  public/new.txt  .*nothing was restarted`)
	d.expect("/new.txt", "a new file")
	if err := socket.Write(t.Context(), websocket.MessageText, []byte("still here")); err != nil {
		t.Error(err)
	}
	if _, text, err := socket.Read(t.Context()); err != nil || string(text) != "still here" {
		t.Errorf("the websocket: %q %v", text, err)
	}
	// Each save is a version, without processes.
	if v, err := d.own().Version(t.Context(), "site", "s4"); err != nil || v.Status != api.VersionStatusReady || v.Runtime == nil || v.Runtime.State != api.RuntimeStateAsleep {
		t.Errorf("save 4: %+v %v", v, err)
	}
	if status, body := d.get("/style.css", "Host:s4.site.localhost"); status != 200 || body != "three" {
		t.Errorf("save 4 by its own host: %d %q", status, body)
	}

	// Back to save 2: its files, and the data at its end.
	term.Press("r")
	d.await(`go back to save .*: $`)
	term.Press("2\n")
	d.await(`save 5  back to save 2  ready`)
	d.expect("/style.css", "two")
	d.expect("/through", "two")
	d.expect("/", "memory 1 data 3")

	// A change of code carries the data of the worker over, and the key x restarts it.
	d.write("public/style.css", "four")
	d.await(`save 6 `)
	d.expect("/", "memory 2 data 4")
	term.Press("x")
	d.await(`save 7  restart  ready`)
	d.expect("/style.css", "four")
	d.expect("/", "memory 1 data 5")

	// The next session continues with data and files.
	d.write("public/style.css", "five")
	d.await(`save 8 `)
	d.expect("/", "memory 2 data 6")
	term.Press("q")
	<-d.exited
	d.start()
	d.await(`data: of save 8`)
	d.await(`save 9  first build`)
	d.expect("/", "memory 1 data 7")
	d.expect("/through", "five")
}
