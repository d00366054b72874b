//go:build e2e

package e2e

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// debugger is a debugger that is attached to a worker.
type debugger struct {
	t    *testing.T
	conn *websocket.Conn
	last int
}

// debugMessage is a message of the Chrome DevTools Protocol.
type debugMessage struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

func attach(t *testing.T, url string) *debugger {
	t.Helper()
	c, resp, err := websocket.Dial(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp.Body != nil {
		t.Cleanup(func() { resp.Body.Close() })
	}
	t.Cleanup(func() { _ = c.CloseNow() })
	c.SetReadLimit(-1)
	return &debugger{t: t, conn: c}
}

// await reads until a message matches, and decodes a part of it into v.
func (d *debugger) await(v any, matches func(debugMessage) json.RawMessage) {
	d.t.Helper()
	for {
		var m debugMessage
		_, data, err := d.conn.Read(d.t.Context())
		if err == nil {
			err = json.Unmarshal(data, &m)
		}
		if err != nil {
			d.t.Fatal(err)
		}
		part := matches(m)
		if part == nil {
			continue
		}
		if err := json.Unmarshal(part, v); err != nil {
			d.t.Fatal(err)
		}
		return
	}
}

func (d *debugger) send(method string, params any) (id int) {
	d.t.Helper()
	d.last++
	data, err := json.Marshal(map[string]any{"id": d.last, "method": method, "params": params})
	if err == nil {
		err = d.conn.Write(d.t.Context(), websocket.MessageText, data)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return d.last
}

// call sends a command and decodes its result into v.
func (d *debugger) call(v any, method string, params any) {
	d.t.Helper()
	id := d.send(method, params)
	d.await(v, func(m debugMessage) json.RawMessage {
		if m.ID == id && m.Error != nil {
			d.t.Fatalf("%s: %s", method, m.Error)
		}
		if m.ID != id {
			return nil
		}
		return m.Result
	})
}

// event waits for an event.
func (d *debugger) event(v any, method string) {
	d.t.Helper()
	d.await(v, func(m debugMessage) json.RawMessage {
		if m.Method != method {
			return nil
		}
		return m.Params
	})
}

// script is a script with a source map.
type debugScript struct{ ScriptID, URL, SourceMapURL string }

// breakAt sets a breakpoint at the line with a text, and returns the sources of its script.
func (d *debugger) breakAt(text string) (sources []string) {
	d.t.Helper()
	var ignored map[string]any
	d.call(&ignored, "Runtime.enable", nil)
	d.send("Debugger.enable", nil)
	const prefix = "data:application/json;base64,"
	var script debugScript
	for !strings.HasPrefix(script.SourceMapURL, prefix) {
		d.event(&script, "Debugger.scriptParsed")
	}
	data, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(script.SourceMapURL, prefix))
	var sourceMap struct{ Sources []string }
	if err == nil {
		err = json.Unmarshal(data, &sourceMap)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	var source struct{ ScriptSource string }
	d.call(&source, "Debugger.getScriptSource", map[string]any{"scriptId": script.ScriptID})
	before, _, found := strings.Cut(source.ScriptSource, text)
	if !found {
		d.t.Fatalf("no %q in %s", text, source.ScriptSource)
	}
	d.call(&ignored, "Debugger.setBreakpointByUrl", map[string]any{"url": script.URL, "lineNumber": strings.Count(before, "\n")})
	return sourceMap.Sources
}

// pauses asks the address, waits until the worker is held, and has it continue.
func (d *debugger) pauses(dev *developer, want string) {
	d.t.Helper()
	answered := make(chan string, 1)
	go func() {
		_, body, err := dev.try(http.MethodGet, "/", "")
		if err != nil {
			body = err.Error()
		}
		answered <- body
	}()
	var paused struct {
		CallFrames []struct{ FunctionName string }
	}
	d.event(&paused, "Debugger.paused")
	if len(paused.CallFrames) == 0 || paused.CallFrames[0].FunctionName != "fetch" {
		d.t.Errorf("paused in %+v", paused)
	}
	d.send("Debugger.resume", nil)
	if body := svctest.Wait(d.t, "the answer", answered); body != want {
		d.t.Errorf("%q, want %q", body, want)
	}
}

// inspects attaches a debugger to the worker web at an address, which a save ends.
func (d *developer) inspects(at string, save func(), want ...string) {
	d.t.Helper()
	d.client.CloseIdleConnections()
	_, body, err := (&developer{running: running{t: d.t}, client: d.client, address: "http://" + at}).try(http.MethodGet, "/json/list", "")
	var list []struct{ ID, Type, WebSocketDebuggerURL string }
	if err == nil {
		err = json.Unmarshal([]byte(body), &list)
	}
	if err != nil || len(list) != 2 || list[1].ID != "web" || list[1].Type != "node" || list[1].WebSocketDebuggerURL != "ws://"+at+"/web" {
		d.t.Fatalf("%s %v", body, err)
	}
	first := attach(d.t, list[1].WebSocketDebuggerURL)
	if sources := first.breakAt("return new Response"); len(sources) != 1 || sources[0] != "file://"+d.dir+"/index.ts" {
		d.t.Errorf("sources %v", sources)
	}
	first.pauses(d, want[0])
	save()
	for err = nil; err == nil; {
		_, _, err = first.conn.Read(d.t.Context())
	}
	if websocket.CloseStatus(err) != websocket.StatusServiceRestart {
		d.t.Error(err)
	}
	second := attach(d.t, list[1].WebSocketDebuggerURL)
	second.breakAt("return new Response")
	second.pauses(d, want[1])
	_ = second.conn.Close(websocket.StatusNormalClosure, "") // or its breakpoint holds later requests
	page, resp, err := websocket.Dial(d.t.Context(), list[1].WebSocketDebuggerURL, &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {"http://localhost:8787"}}})
	if err == nil {
		_ = page.CloseNow()
	}
	if resp == nil || resp.StatusCode != http.StatusForbidden {
		d.t.Errorf("a page may attach: %v", err)
	}
}
