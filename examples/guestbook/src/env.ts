export interface Env {
  DB: D1Database;
  VISITS: KVNamespace;
  SIGNED: Queue<Signed>;
  VERSION: { id: string; tag: string; timestamp: string };
  GREETING: string;
  LIMITS: { entries: number; name: number; message: number };
  PROJECT_ID: string;
  VERSION_ID: string;
}

/** A message of the queue, sent for each new entry. */
export interface Signed {
  name: string;
  at: string;
}
