import { Hono } from "hono";
import { cors } from "hono/cors";
import { HTTPException } from "hono/http-exception";
import { requestId } from "hono/request-id";
import { createHash } from "node:crypto";

import { crud } from "./crud";
import type { App } from "./env";
import { resources } from "./resources";
import { shop } from "./shop";

const app = new Hono<App>();

app.use("*", requestId());
app.use("/api/*", cors());
for (const [name, resource] of Object.entries(resources)) app.route(`/api/${name}`, crud(resource));
app.get("/api/version", (c) => c.json({ shop: c.env.SHOP, page: c.env.LIMITS.page, tagged: "tag" in c.env.VERSION }));
app.get("/api/digest/:text", (c) => c.text(createHash("sha256").update(c.req.param("text")).digest("hex")));
app.get("/api/routes", (c) => c.json({ routes: app.routes.filter((r) => r.method !== "ALL").length }));
app.route("/", shop);

app.notFound((c) => c.json({ error: `nothing at ${c.req.path}` }, 404));
app.onError((err, c) => {
  if (err instanceof HTTPException) return c.json({ error: err.message }, err.status);
  console.error("unexpected", err);
  const constraint = /constraint failed/i.test(err.message);
  return c.json({ error: err.message }, constraint ? 409 : 500);
});

export default app;
