import { betterAuth } from "better-auth";
import { drizzleAdapter } from "better-auth/adapters/drizzle";
import { eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { Hono } from "hono";
import * as schema from "./schema.js";

const app = new Hono();

app.use(async (c, next) => {
  const db = drizzle(c.env.DB, { schema });
  c.set("db", db);
  c.set("auth", betterAuth({
    database: drizzleAdapter(db, { provider: "sqlite", schema }), secret: c.env.SECRET, baseURL: new URL(c.req.url).origin,
    emailAndPassword: { enabled: true }, telemetry: { enabled: false },
  }));
  await next();
});

app.on(["GET", "POST"], "/api/auth/*", (c) => c.get("auth").handler(c.req.raw));

app.all("/api/notes", async (c) => {
  const visitor = await c.get("auth").api.getSession({ headers: c.req.raw.headers });
  if (!visitor) return c.json({ error: "sign in first" }, 401);
  const { note } = schema, mine = eq(note.userId, visitor.user.id), db = c.get("db");
  if (c.req.method === "POST") await db.insert(note).values({ userId: visitor.user.id, text: (await c.req.json()).text });
  return c.json({ name: visitor.user.name, notes: (await db.select().from(note).where(mine)).map((n) => n.text) });
});

app.get("/", (c) => c.html(`<!doctype html><html lang="en"><head><title>Notes</title><link rel="icon" href="data:,"></head><body><h1>Notes</h1><ul id="notes"></ul></body></html>`));

export default app;
