import { Hono } from "hono";

interface Env {
  Bindings: { NOTES: KVNamespace };
}

const app = new Hono<Env>();

app.get("/", (c) => c.text("PUT and GET /notes/NAME\n"));

app.get("/notes/:name", async (c) => {
  const text = await c.env.NOTES.get(c.req.param("name"));
  return text === null ? c.text("no such note\n", 404) : c.text(text);
});

app.put("/notes/:name", async (c) => {
  await c.env.NOTES.put(c.req.param("name"), await c.req.text());
  return c.body(null, 204);
});

export default app;
