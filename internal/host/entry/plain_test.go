package entry_test

import "testing"

// plain is a worker without classes, which another one calls by RPC.
const plain = `
const shared = {
  honey: "prop",
  get comb() { return "got " + this.honey; },
  busyBee(x) { return "bee " + x + " " + (this === shared); },
  async foo(e) { return { bar: { buzz: () => e } }; },
  async id(_, env) { const first = env.PROBE.id(); await scheduler.wait(1); return [first > 0, first === env.PROBE.id()]; },
  fail() { throw new TypeError("no good"); },
};
export const other = { one: (x) => x + 1, id: async (_, env) => env.PROBE.id() > 0, fetch() { return new Response("other"); } };
export default Object.assign(shared, {
  async fetch(request, env) {
    const tried = async (f) => { try { return await f(); } catch (e) { return String(e).replace(/\..*/s, ""); } };
    return Response.json([
      await env.SELF.busyBee("q"), await env.SELF.honey, await env.SELF.comb, await env.SELF.foo("z").bar.buzz(), await env.SELF.id(0),
      await env.OTHER.one(1), await env.OTHER.id(0), await (await env.OTHER.fetch("http://x/")).text(),
      await tried(() => env.SELF.fail(0)), await tried(() => env.SELF.nothing()),
    ]);
  },
});
`

// TestPlainObjects: a worker calls the methods and reads the properties of a plain object that another
// one exports; each call is an invocation.
func TestPlainObjects(t *testing.T) {
	t.Parallel()
	w := start(t, "2026-11-01", esm("w.js", plain))
	const want = `200 ["bee q true","prop","got prop","z",[true,true],2,true,"other","TypeError: no good",` +
		`"TypeError: The RPC receiver does not implement the method \"nothing\""]`
	if got := w.get("/"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
