package workerd_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/host/entry"
	"github.com/svcctl/svcctl/internal/host/workerd"
)

const throwingScript = `
class Odd { constructor() { this.code = 7; } }
class Loud { toString() { return "loud"; } }
const fails = () => { throw new Error("inner") };
export default { fetch(req) {
  switch (new URL(req.url).pathname) {
    case "/object": throw { not: "an error" };
    case "/class": throw new Odd();
    case "/text": throw new Loud();
    case "/array": throw [1, "two"];
    case "/null": throw null;
    case "/number": throw 42;
    case "/error": throw new TypeError("three");
    case "/console": try { fails() } catch (e) { console.error(e); } break;
    case "/stack": try { fails() } catch (e) { console.error("caught", e.stack); } break;
  }
  return new Response("ok");
} };`

// What a worker throws that is no Error is shown with its content, and in one line of the log. Errors
// that the worker prints do not have frames of the platform.
func TestThrownValues(t *testing.T) {
	t.Parallel()
	p := mustStart(t, func(dir string) workerd.Config {
		modules := []workerd.Module{{Name: "index.js", Type: workerd.ESModule, Source: throwingScript}}
		c := config(dir, &workerd.Worker{Modules: entry.Before(modules, false, false), CompatibilityDate: "2026-11-01"})
		c.Extensions = entry.Extensions(0, false, false)
		return c
	})
	exception, console := workerd.SourceException, workerd.SourceConsole
	for _, tt := range []struct {
		path, want string
		source     workerd.Source
	}{
		{"/object", "{ not: 'an error' }", exception},
		{"/class", "Odd { code: 7 }", exception},
		{"/text", "Loud {}", exception},
		{"/array", "[ 1, 'two' ]", exception},
		{"/null", "null", exception},
		{"/number", "42", exception},
		{"/error", "TypeError: three\n    at Object.fetch (index.js:13:26)", exception},
		{"/console", "Error: inner\n    at fails (index.js:4:29)\n    at Object.fetch (index.js:14:28)", console},
		{"/stack", "caught Error: inner\n    at fails (index.js:4:29)\n    at Object.fetch (index.js:15:26)", console},
	} {
		p.get(t, tt.path)
		got := p.next(t)
		if diff := cmp.Diff(tt.want, got.Message); diff != "" || got.Source != tt.source {
			t.Errorf("%s: source %s (-want +got):\n%s", tt.path, got.Source, diff)
		}
	}
}
