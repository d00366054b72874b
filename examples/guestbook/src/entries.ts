import type { Env } from "./env";

export interface Entry {
  id: number;
  name: string;
  message: string;
  created_at: string;
}

export async function list(env: Env): Promise<Entry[]> {
  const { results } = await env.DB.prepare("SELECT * FROM entries ORDER BY id DESC LIMIT ?")
    .bind(env.LIMITS.entries)
    .all<Entry>();
  return results;
}

export async function add(env: Env, name: string, message: string): Promise<Entry> {
  const entry = await env.DB.prepare("INSERT INTO entries (name, message) VALUES (?, ?) RETURNING *")
    .bind(name, message)
    .first<Entry>();
  if (entry === null) throw new Error("the entry was not stored");
  return entry;
}

/** Deletes the entries that no page shows any more. Running it twice is harmless. */
export async function trim(env: Env): Promise<number> {
  const { meta } = await env.DB.prepare("DELETE FROM entries WHERE id NOT IN (SELECT id FROM entries ORDER BY id DESC LIMIT ?)")
    .bind(env.LIMITS.entries)
    .run();
  return meta.changes;
}

/** What is wrong with an entry a visitor sent; undefined when it can be stored. */
export function check(env: Env, name: unknown, message: unknown): string | undefined {
  if (typeof name !== "string" || name.trim() === "" || name.length > env.LIMITS.name) {
    return `name: 1 to ${env.LIMITS.name} characters`;
  }
  if (typeof message !== "string" || message.trim() === "" || message.length > env.LIMITS.message) {
    return `message: 1 to ${env.LIMITS.message} characters`;
  }
  return undefined;
}
