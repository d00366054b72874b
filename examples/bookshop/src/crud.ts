import { Hono, type Context } from "hono";
import { HTTPException } from "hono/http-exception";

import type { App } from "./env";
import type { Reader } from "./fields";

/** A table and how its columns are read from a body. Names come from code, never from a request. */
export interface Resource {
  table: string;
  fields: Record<string, Reader>;
}

const missing = (what: string): never => {
  throw new HTTPException(404, { message: `${what} not found` });
};

/** The seven routes of a table: list, count, read, create, replace, change, delete. */
export function crud({ table, fields }: Resource) {
  const names = Object.keys(fields);
  const routes = new Hono<App>();

  const byId = async (c: Context<App>) =>
    (await c.env.DB.prepare(`SELECT * FROM ${table} WHERE id = ?`).bind(Number(c.req.param("id"))).first()) ?? missing(table);

  routes.get("/", async (c) => {
    const after = Number(c.req.query("after") ?? 0);
    const { results } = await c.env.DB.prepare(`SELECT * FROM ${table} WHERE id > ? ORDER BY id LIMIT ?`)
      .bind(after, c.env.LIMITS.page)
      .all<{ id: number }>();
    return c.json({ items: results, next: results.length === c.env.LIMITS.page ? results.at(-1)?.id : null });
  });

  routes.get("/count", async (c) =>
    c.json({ count: await c.env.DB.prepare(`SELECT count(*) AS n FROM ${table}`).first<number>("n") }));

  routes.get("/:id{[0-9]+}", async (c) => c.json(await byId(c)));

  routes.post("/", async (c) => {
    const body = await c.req.json<Record<string, unknown>>();
    const values = names.map((name) => fields[name](body[name], name));
    const row = await c.env.DB.prepare(
      `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")}) RETURNING *`,
    ).bind(...values).first();
    return c.json(row, 201);
  });

  routes.put("/:id{[0-9]+}", async (c) => {
    const body = await c.req.json<Record<string, unknown>>();
    const values = names.map((name) => fields[name](body[name], name));
    const row = await c.env.DB.prepare(`UPDATE ${table} SET ${names.map((n) => `${n} = ?`).join(", ")} WHERE id = ? RETURNING *`)
      .bind(...values, Number(c.req.param("id")))
      .first();
    return c.json(row ?? missing(table));
  });

  routes.patch("/:id{[0-9]+}", async (c) => {
    const body = await c.req.json<Record<string, unknown>>();
    const given = names.filter((name) => name in body);
    if (given.length === 0) return c.json(await byId(c));
    const row = await c.env.DB.prepare(`UPDATE ${table} SET ${given.map((n) => `${n} = ?`).join(", ")} WHERE id = ? RETURNING *`)
      .bind(...given.map((name) => fields[name](body[name], name)), Number(c.req.param("id")))
      .first();
    return c.json(row ?? missing(table));
  });

  routes.delete("/:id{[0-9]+}", async (c) => {
    const { meta } = await c.env.DB.prepare(`DELETE FROM ${table} WHERE id = ?`).bind(Number(c.req.param("id"))).run();
    return meta.changes === 0 ? missing(table) : c.body(null, 204);
  });

  return routes;
}
