export interface Bindings {
  DB: D1Database;
  CACHE: KVNamespace;
  SESSIONS: KVNamespace;
  SHOP: string;
  LIMITS: { page: number; note: number };
  VERSION: { id: string; tag: string; timestamp: string };
}

export type App = { Bindings: Bindings; Variables: { customer: number } };
