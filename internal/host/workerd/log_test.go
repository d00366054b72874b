package workerd_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/host/workerd"
)

const loggingScript = `
class MyErr extends Error { constructor(m) { super(m); this.name = "MyErr"; } }
function deep(m) { throw new MyErr(m) }
export default { async fetch(req, env, ctx) {
  switch (new URL(req.url).pathname) {
    case "/log": console.log("a", {b: 1}); console.error("bad\nworse"); console.warn("w"); console.debug("d"); console.info("i"); break;
    case "/stdout": process.stdout.write("to stdout\n"); break;
    case "/throw": deep("in fetch");
    case "/type": undefined.x;
    case "/string": throw "a string";
    case "/return": return 5;
    case "/wait": ctx.waitUntil((async () => { await 1; deep("in waitUntil") })()); break;
    case "/timer": setTimeout(() => deep("in a timer"), 1); await new Promise((r) => setTimeout(r, 5)); break;
    case "/stream": return new Response(new ReadableStream({ pull() { deep("in a stream") } }));
    case "/reject": Promise.reject(new MyErr("no listener")); break;
    case "/private": await fetch("http://127.0.0.1:22/");
    case "/caught": try { await fetch("http://127.0.0.1:22/") } catch {} break;
    case "/exit": process.exit(3);
    case "/hung": return new Promise(() => {});
  }
  return new Response("ok");
} };`

// TestLogOfARealWorker also holds that one exception is one line: each path's
// lines are followed by a mark.
func TestLogOfARealWorker(t *testing.T) {
	t.Parallel()
	p := mustStart(t, func(dir string) workerd.Config { return config(dir, script(loggingScript+workerd.RejectionHook)) })
	console, exception, runtime := workerd.SourceConsole, workerd.SourceException, workerd.SourceRuntime
	tests := []struct {
		path string
		want []workerd.LogLine // messages are prefixes up to "…"
	}{
		{"/log", []workerd.LogLine{
			{Level: "log", Message: "a { b: 1 }", Source: console},
			{Level: "error", Message: "bad\nworse", Source: console},
			{Level: "warn", Message: "w", Source: console},
			{Level: "debug", Message: "d", Source: console},
			{Level: "info", Message: "i", Source: console},
		}},
		{"/stdout", []workerd.LogLine{{Level: "log", Message: "stdout: to stdout", Source: console}}},
		{"/throw", []workerd.LogLine{{Level: "error", Message: "MyErr: in fetch\n    at deep (index.js:3:26)\n    at Object.fetch (index.js:8:20)", Source: exception}}},
		{"/throw", []workerd.LogLine{{Level: "error", Message: "MyErr: in fetch\n    at deep (index.js:3:26)\n    at Object.fetch (index.js:8:20)", Source: exception}}},
		{"/type", []workerd.LogLine{{Level: "error", Message: "TypeError: Cannot read properties of undefined (reading 'x')\n    at Object.fetch (index.js:9:29)", Source: exception}}},
		{"/string", []workerd.LogLine{{Level: "error", Message: "a string", Source: exception}}},
		{"/return", []workerd.LogLine{{Level: "error", Message: "TypeError: Incorrect type for Promise: the Promise did not resolve to 'Response'.", Source: exception}}},
		{"/wait", []workerd.LogLine{{Level: "error", Message: "MyErr: in waitUntil\n    at deep (index.js:3:26)…", Source: exception}}},
		{"/timer", []workerd.LogLine{{Level: "error", Message: "MyErr: in a timer\n    at deep (index.js:3:26)…", Source: exception}}},
		{"/stream", []workerd.LogLine{{Level: "error", Message: "MyErr: in a stream", Source: exception}}},
		{"/stream", []workerd.LogLine{{Level: "error", Message: "MyErr: in a stream", Source: exception}}},
		{"/reject", []workerd.LogLine{{Level: "error", Message: "Unhandled rejection: MyErr: no listener\n    at Object.fetch (index.js:15:36)", Source: console}}},
		{"/private", []workerd.LogLine{
			{Level: "error", Message: "connecting to 127.0.0.1:22 is not allowed (reference = …", Source: runtime},
			{Level: "error", Message: "Error: internal error; reference = …", Source: exception},
		}},
		{"/caught", []workerd.LogLine{{Level: "error", Message: "connecting to 127.0.0.1:22 is not allowed (reference = …", Source: runtime}}},
		{"/exit", []workerd.LogLine{{Level: "error", Message: "The Node.js process.exit(3) API was called. Canceling the request.", Source: exception}}},
		{"/hung", []workerd.LogLine{{Level: "error", Message: "The Workers runtime canceled this request…", Source: exception}}},
		{"/hung", []workerd.LogLine{{Level: "error", Message: "The Workers runtime canceled this request…", Source: exception}}},
	}
	mark := workerd.LogLine{Level: "log", Message: "stdout: to stdout", Source: console}
	for _, tt := range tests {
		begin := time.Now().Add(-time.Second)
		p.get(t, tt.path)
		p.get(t, "/stdout")
		for _, want := range append(slices.Clip(tt.want), mark) {
			got := p.next(t)
			if got.Time.Before(begin) || got.Time.After(time.Now().Add(time.Second)) {
				t.Errorf("%s: time %v", tt.path, got.Time)
			}
			got.Time = time.Time{}
			if prefix, cut := strings.CutSuffix(want.Message, "…"); cut && strings.HasPrefix(got.Message, prefix) {
				got.Message = want.Message
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s (-want +got):\n%s", tt.path, diff)
			}
		}
	}
}

func TestReadLog(t *testing.T) {
	t.Parallel()
	const head = `{"timestamp":1795178212631,"level":"log","message":"`
	console := func(message string) string { return head + message + "\"}\n" }
	const room = workerd.MaxLogLine - len(head)
	at := time.UnixMilli(1795178212631).UTC()
	big := strings.Repeat("x", 2*workerd.MaxLogLine)
	tests := map[string]struct {
		in   string
		want []workerd.LogLine
	}{
		"nothing":     {"", nil},
		"empty lines": {"\n\r\n\n", nil},
		"no last break": {
			strings.TrimSuffix(console("a"), "\n"),
			[]workerd.LogLine{{Time: at, Level: "log", Message: "a", Source: workerd.SourceConsole}},
		},
		"while the worker's clock stands": {
			`{"timestamp":0,"level":"log","message":"at load"}`,
			[]workerd.LogLine{{Level: "log", Message: "at load", Source: workerd.SourceConsole}},
		},
		"not structured": {
			"*** Received signal #6: Aborted\n{\"half\n",
			[]workerd.LogLine{
				{Level: "info", Message: "*** Received signal #6: Aborted", Source: workerd.SourceRuntime},
				{Level: "info", Message: "{\"half", Source: workerd.SourceRuntime},
			},
		},
		"out of memory": {
			`{"timestamp":"1795178212631","level":"fatal","source":"workerd/jsg/setup.c++:44","message":"V8 fatal error; location = Reached heap limit"}`,
			[]workerd.LogLine{{Time: at, Level: "fatal", Message: "V8 fatal error; location = Reached heap limit", Source: workerd.SourceRuntime}},
		},
		"a client that hung up": {
			`{"timestamp":"1","level":"info","source":"workerd/io/worker-entrypoint.c++:641","message":"exception = kj/compat/http.c++:4248: disconnected: WebSocket was aborted"}` + "\n" +
				`{"timestamp":"1","level":"info","source":"workerd/io/io-context.c++:656","message":"uncaught exception; exception = kj/compat/http.c++:4425: disconnected: other end of WebSocketPipe was destroyed\nstack: /x@6b04330"}`,
			nil,
		},
		"accounts that name an error differently": {
			`{"timestamp":1795178212631,"level":"error","message":"\u001ea1\u001fError [ERR_X]: no\n    at f (index.js:1:1)"}` + "\n" +
				`{"timestamp":"1","level":"info","source":"w","message":"uncaught exception; source = Uncaught (in promise); stack = Error: no\n    at f (index.js:1:1)"}` + "\n" +
				`{"timestamp":1795178212631,"level":"error","message":"\u001ea2\u001fAbortError: off\n    at f (index.js:2:1)"}` + "\n" +
				`{"timestamp":"1","level":"info","source":"w","message":"uncaught exception; exception = a/b:1: failed: jsg.DOMException(AbortError): off"}`,
			[]workerd.LogLine{
				{Time: at, Level: "error", Message: "Error [ERR_X]: no\n    at f (index.js:1:1)", Source: workerd.SourceException, ID: "a1"},
				{Time: at, Level: "error", Message: "AbortError: off\n    at f (index.js:2:1)", Source: workerd.SourceException, ID: "a2"},
			},
		},
		"a question to an invocation that has ended": {
			`{"timestamp":1795178212631,"level":"warn","message":"Warning: A promise was resolved or rejected from a different request context than the one it was created in.\n    at Work.lives (svc-internal:waiting:53:12)"}` + "\n",
			nil,
		},
		"a call of another process that failed": {
			`{"timestamp":"1","level":"info","source":"w","message":"returning failure over rpc; exception = workerd/jsg/value.h:1456: failed: remote.jsg.TypeError: no good\nstack: /x@6b04330"}` + "\n" +
				`{"timestamp":"1","level":"info","source":"w","message":"uncaught exception; exception = workerd/io/io-context.c++:2052: failed: jsg.Error: ` + hung + `"}` + "\n" +
				`{"timestamp":"1","level":"info","source":"w","message":"returning failure over rpc; exception = workerd/io/io-context.c++:2052: failed: jsg.Error: ` + hung + `"}`,
			nil,
		},
		"lines that are too long": {
			console(big) + console("next") + console(strings.Repeat(`\u00e9`, workerd.MaxLogLine)) + console("last"),
			[]workerd.LogLine{
				{Time: at, Level: "log", Message: big[:room] + "…", Source: workerd.SourceConsole},
				{Time: at, Level: "log", Message: "next", Source: workerd.SourceConsole},
				{Time: at, Level: "log", Message: strings.Repeat("é", room/6) + "…", Source: workerd.SourceConsole},
				{Time: at, Level: "log", Message: "last", Source: workerd.SourceConsole},
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []workerd.LogLine
			err := workerd.ReadLog(iotest.HalfReader(strings.NewReader(tt.in)), func(l workerd.LogLine) { got = append(got, l) })
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%.2000s", diff)
			}
		})
	}
}

func TestReadLogReportsAFailure(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	n := 0
	r := io.MultiReader(strings.NewReader("one\ntwo"), iotest.ErrReader(broken))
	if err := workerd.ReadLog(r, func(workerd.LogLine) { n++ }); !errors.Is(err, broken) || n != 2 {
		t.Errorf("ReadLog: %v after %d lines", err, n)
	}
}

const hung = "The Workers runtime canceled this request because it detected that your Worker's code had hung and would never generate a response."

// FuzzReadLog holds that no input stops or breaks it, and that messages stay
// within bounds.
func FuzzReadLog(f *testing.F) {
	f.Add([]byte(`{"timestamp":1,"level":"log","message":"a"}` + "\n"))
	f.Add([]byte(`{"timestamp":"1","level":"info","source":"x","message":"uncaught exception; source = Uncaught; stack = E: x"}` + "\n"))
	f.Add([]byte(`{"timestamp":"1","level":"info","source":"x","message":"uncaught exception; exception = a/b:1: failed: jsg.Error: E: x\nstack: /x@1"}` + "\n"))
	f.Add([]byte(`{"timestamp":"1","level":"error","source":"x","message":"Uncaught exception: a/b:1: failed: remote.jsg.Error: E: x"}` + "\n"))
	f.Add([]byte("\x00\xff{\n{}\n[]\nnull\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		lines := 0
		err := workerd.ReadLog(bytes.NewReader(in), func(l workerd.LogLine) {
			lines++
			if l.Source == "" || len(l.Message) > 4*workerd.MaxLogLine {
				t.Errorf("%+v", l)
			}
		})
		if err != nil || lines > bytes.Count(in, []byte("\n"))+1 {
			t.Errorf("%d lines, %v", lines, err)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	line := []byte(`{"timestamp":1795178212631,"level":"log","message":"GET /api/items/42 200 in 12 ms"}`)
	var p workerd.LogParser
	b.ReportAllocs()
	for b.Loop() {
		p.Parse(line)
	}
}
