import { Agent, callable, routeAgentRequest } from "agents";

// Counter counts for all who are connected, and remembers what was said in its own SQL database.
export class Counter extends Agent {
  initialState = { count: 0 };

  onStart() {
    this.sql`CREATE TABLE IF NOT EXISTS said (id INTEGER PRIMARY KEY, text TEXT)`;
  }

  add(n) {
    this.setState({ count: this.state.count + n });
    return this.state.count;
  }

  onMessage(connection, message) {
    const said = JSON.parse(message);
    if (said.type !== "say") return;
    this.sql`INSERT INTO said (text) VALUES (${said.text})`;
    this.broadcast(JSON.stringify({ type: "said", all: this.sql`SELECT text FROM said ORDER BY id`.map((row) => row.text) }));
  }

  async onRequest(request) {
    if (request.method === "POST") await this.schedule(1, "tick", {});
    return Response.json({ count: this.state.count, ticks: this.sql`SELECT count(*) AS n FROM said WHERE text = 'tick'`[0].n });
  }

  tick() {
    this.sql`INSERT INTO said (text) VALUES ('tick')`;
  }
}

callable()(Counter.prototype.add, { kind: "method", name: "add", addInitializer() {} });

export default {
  async fetch(request, env) {
    return (await routeAgentRequest(request, env)) ?? new Response(page, { headers: { "content-type": "text/html" } });
  },
};

const page = `<!doctype html><html lang="en"><head><title>Agent</title><link rel="icon" href="data:,"></head><body><h1>Agent</h1></body></html>`;
