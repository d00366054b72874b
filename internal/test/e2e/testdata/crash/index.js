// A worker for the crash tests: writers count up in chains, in a database and then
// in a namespace; and it tells all that the database holds.
export default {
  async fetch(request, env) {
    switch (new URL(request.url).pathname) {
      case "/append": {
        const { w, n, hash } = await request.json();
        await env.DB.prepare("INSERT OR IGNORE INTO chain VALUES (?, ?, ?)").bind(w, n, hash).run();
        await env.KV.put(`w${w}`, String(n));
        return new Response("ok");
      }
      case "/churn":
        await env.DB.batch((await request.json()).map((text) => env.DB.prepare(text)));
        return new Response("ok");
      case "/state":
        return Response.json({ chain: await chain(env), kv: await kv(env) });
      case "/dump":
        return new Response(await dump(env));
    }
    return new Response(env.VERSION_ID);
  },
};

/** How far each writer is: [w, n, rows, hash]. */
const chain = (env) =>
  env.DB.prepare("SELECT w, max(n), count(*), hash FROM chain GROUP BY w ORDER BY w").raw();

async function kv(env) {
  const { keys } = await env.KV.list({ prefix: "w" });
  return Object.fromEntries(await Promise.all(keys.map(async ({ name }) => [name, Number(await env.KV.get(name))])));
}

/** The schema and every row, one to a line. */
async function dump(env) {
  const lines = await env.DB.prepare(
    "SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite%' AND name NOT LIKE 'd1%' ORDER BY name").raw();
  for (const [name, sql] of [...lines]) {
    if (sql.startsWith("CREATE TABLE")) lines.push(...(await env.DB.prepare(`SELECT * FROM "${name}" ORDER BY rowid`).raw()));
  }
  return lines.map((line) => JSON.stringify(line)).join("\n");
}
