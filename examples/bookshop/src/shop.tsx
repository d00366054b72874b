import { Hono } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { etag } from "hono/etag";
import { HTTPException } from "hono/http-exception";
import { stream, streamSSE } from "hono/streaming";

import type { App } from "./env";

interface BestSeller {
  title: string;
  name: string;
  sold: number;
}

/** What the shop does beside keeping tables. */
export const shop = new Hono<App>();

const bestSellers = `SELECT b.title, a.name, coalesce(sum(l.quantity), 0) AS sold
  FROM books b JOIN authors a ON a.id = b.author_id LEFT JOIN order_lines l ON l.book_id = b.id
  GROUP BY b.id ORDER BY sold DESC, b.title LIMIT 10`;

shop.get("/best-sellers", async (c) => {
  const cached = await c.env.CACHE.get<BestSeller[]>("best-sellers", "json");
  if (cached !== null) return c.json({ from: "cache", items: cached });
  const { results } = await c.env.DB.prepare(bestSellers).all<BestSeller>();
  await c.env.CACHE.put("best-sellers", JSON.stringify(results), { expirationTtl: 60, metadata: { rows: results.length } });
  return c.json({ from: "database", items: results });
});

shop.delete("/best-sellers", async (c) => {
  await c.env.CACHE.delete("best-sellers");
  return c.body(null, 204);
});

shop.get("/cache", async (c) => {
  const { keys, list_complete } = await c.env.CACHE.list<{ rows: number }>({ prefix: c.req.query("prefix") ?? "" });
  return c.json({ keys: keys.map(({ name, metadata }) => ({ name, metadata })), list_complete });
});

shop.post("/login", async (c) => {
  const { email } = await c.req.json<{ email: string }>();
  const id = await c.env.DB.prepare("SELECT id FROM customers WHERE email = ?").bind(email).first<number>("id");
  if (id === null) throw new HTTPException(401, { message: "nobody has this address" });
  const session = crypto.randomUUID();
  await c.env.SESSIONS.put(session, String(id), { expirationTtl: 3600 });
  setCookie(c, "session", session, { httpOnly: true, sameSite: "Lax", path: "/" });
  return c.json({ customer: id });
});

shop.post("/logout", async (c) => {
  const session = getCookie(c, "session");
  if (session !== undefined) await c.env.SESSIONS.delete(session);
  deleteCookie(c, "session", { path: "/" });
  return c.body(null, 204);
});

shop.use("/me/*", async (c, next) => {
  const session = getCookie(c, "session");
  const customer = session === undefined ? null : await c.env.SESSIONS.get(session);
  if (customer === null) throw new HTTPException(401, { message: "log in first" });
  c.set("customer", Number(customer));
  await next();
});

shop.get("/me/orders", async (c) => {
  const [orders, lines] = await c.env.DB.batch<Record<string, unknown>>([
    c.env.DB.prepare("SELECT * FROM orders WHERE customer_id = ?").bind(c.get("customer")),
    c.env.DB.prepare("SELECT l.* FROM order_lines l JOIN orders o ON o.id = l.order_id WHERE o.customer_id = ?").bind(c.get("customer")),
  ]);
  return c.json({ orders: orders.results, lines: lines.results });
});

shop.post("/buy/:book{[0-9]+}", async (c) => {
  const book = Number(c.req.param("book"));
  const { customer, quantity } = await c.req.json<{ customer: number; quantity: number }>();
  const results = await c.env.DB.batch<{ id: number }>([
    c.env.DB.prepare("INSERT INTO orders (customer_id, state) VALUES (?, 'paid') RETURNING id").bind(customer),
    c.env.DB.prepare("INSERT INTO order_lines (order_id, book_id, quantity) VALUES (last_insert_rowid(), ?, ?)").bind(book, quantity),
    c.env.DB.prepare("UPDATE books SET stock = stock - ? WHERE id = ?").bind(quantity, book),
  ]);
  return c.json({ order: results[0].results[0].id }, 201);
});

shop.get("/export.csv", (c) =>
  stream(c, async (out) => {
    const { results } = await c.env.DB.prepare("SELECT id, title, price FROM books ORDER BY id").raw<[number, string, number]>().then((r) => ({ results: r }));
    await out.write("id,title,price\n");
    for (const [id, title, price] of results) await out.write(`${id},"${title.replaceAll('"', '""')}",${price}\n`);
  }));

shop.get("/ticker", (c) =>
  streamSSE(c, async (out) => {
    for (let n = 1; n <= 3; n++) {
      await out.writeSSE({ event: "tick", id: String(n), data: JSON.stringify({ n }) });
      await out.sleep(10);
    }
  }));

shop.get("/", etag(), async (c) => {
  const { results } = await c.env.DB.prepare("SELECT title, price FROM books ORDER BY title").all<{ title: string; price: number }>();
  return c.html(
    <html lang="en">
      <head><title>{c.env.SHOP}</title></head>
      <body>
        <h1>{c.env.SHOP}</h1>
        <ul>{results.map((b) => <li>{b.title}: {(b.price / 100).toFixed(2)}</li>)}</ul>
      </body>
    </html>,
  );
});
