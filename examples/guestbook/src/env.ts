export interface Env {
  DB: D1Database;
  VISITS: KVNamespace;
  VERSION: { id: string; tag: string; timestamp: string };
  GREETING: string;
  LIMITS: { entries: number; name: number; message: number };
  PROJECT_ID: string;
  VERSION_ID: string;
}
