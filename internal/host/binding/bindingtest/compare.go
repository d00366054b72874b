package bindingtest

import (
	"encoding/json"
	"strings"
	"testing"
)

// Calls is a module that makes the calls of a request's body, a JSON array of
// [binding, method, ...arguments], one after another, and answers one line of
// JSON for each: {"value":...} or {"error":"..."}. An argument {"$bytes":[..]}
// becomes a Uint8Array, {"$repeat":["x",n]} a string. Methods of a database are
// those of a statement, whose text and parameters are the arguments, and
// "batch" and "exec".
const Calls = `
const argument = (a) => {
  if (Array.isArray(a)) return a.map(argument);
  if (a === null || typeof a !== "object") return a;
  if ("$bytes" in a) return new Uint8Array(a.$bytes);
  if ("$repeat" in a) return a.$repeat[0].repeat(a.$repeat[1]);
  if ("$now" in a) return Math.floor(Date.now() / 1000) + a.$now;
  return Object.fromEntries(Object.entries(a).map(([k, v]) => [k, argument(v)]));
};
const plain = (v) => {
  if (v instanceof Map) return { map: [...v].map(([k, x]) => [k, plain(x)]) };
  if (v instanceof ArrayBuffer) return { bytes: [...new Uint8Array(v)] };
  if (v === undefined) return { undefined: true };
  return v;
};
const statement = (db, [sql, ...params]) => db.prepare(sql).bind(...params);
async function call(env, [name, method, ...rest]) {
  const target = env[name], args = rest.map(argument);
  if (target.prepare === undefined) return target[method](...args);
  switch (method) {
    case "exec": return target.exec(args[0]);
    case "dump": return target.dump();
    case "batch": return target.batch(args[0].map((q) => statement(target, q)));
    case "raw": return statement(target, args).raw({ columnNames: true });
    case "session": {
      const session = target.withSession(args[0]);
      const answer = await statement(session, args.slice(1)).all();
      return { answer, bookmark: typeof session.getBookmark() };
    }
    default: return statement(target, args)[method]();
  }
}
export default { async fetch(req, env) {
  const lines = [];
  for (const c of await req.json()) {
    try { lines.push(JSON.stringify({ value: plain(await call(env, c)) })); }
    catch (e) { lines.push(JSON.stringify({ error: String(e) })); }
  }
  return new Response(lines.join("\n"));
}};`

// Call makes the calls on w, whose module is Calls.
func (w *Worker) Call(t testing.TB, calls ...[]any) []string {
	t.Helper()
	body, err := json.Marshal(calls)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(w.Post(t, "/", string(body)), "\n")
	if len(lines) != len(calls) {
		t.Fatalf("%d answers to %d calls", len(lines), len(calls))
	}
	return lines
}

// Compare makes the calls on both and fails where the answers differ. clean
// removes from an answer, decoded from JSON, what may differ.
func Compare(t *testing.T, ours, oracle *Worker, clean func(any) any, calls ...[]any) {
	t.Helper()
	got, want := ours.Call(t, calls...), oracle.Call(t, calls...)
	for i, c := range calls {
		g, w := normal(t, got[i], clean), normal(t, want[i], clean)
		if g != w {
			text, _ := json.Marshal(c)
			t.Errorf("call %d %.300s\n  ours   %.600s\n  oracle %.600s", i, text, g, w)
		}
	}
}

func normal(t *testing.T, line string, clean func(any) any) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(line), &v); err != nil {
		t.Fatalf("not JSON: %v: %s", err, line)
	}
	if clean != nil {
		v = clean(v)
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
