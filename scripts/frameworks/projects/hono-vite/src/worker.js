import { Hono } from "hono";

const app = new Hono();
app.get("/api/hello", (c) => c.json({ hello: c.req.query("name") ?? "world" }));
app.post("/api/echo", async (c) => c.json(await c.req.json()));
export default app;
