/** A version for one test: the worker of the parent, with data that begin as the parent's. */
export class Branch {
  readonly id: string;
  readonly project: string;
  readonly previewUrl: string;
  /** Sends a request to the worker. A path is enough. */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /** An address on this machine that leads to the worker, for a browser or another program. */
  listen(): Promise<string>;
  d1(binding: string): {
    query<T = Record<string, unknown>>(sql: string, ...params: unknown[]): Promise<T[]>;
    first<T = Record<string, unknown>>(sql: string, ...params: unknown[]): Promise<T | null>;
    exec(sql: string): Promise<void>;
  };
  kv(binding: string): {
    get(name: string): Promise<string | null>;
    get(name: string, type: "text"): Promise<string | null>;
    get<T = unknown>(name: string, type: "json"): Promise<T | null>;
    get(name: string, type: "arrayBuffer"): Promise<ArrayBuffer | null>;
    put(name: string, value: string | Uint8Array | object): Promise<void>;
    delete(name: string): Promise<void>;
    list(prefix?: string): Promise<string[]>;
  };
  r2(binding: string): {
    get(name: string): Promise<Response | null>;
    put(name: string, value: string | Uint8Array | ArrayBuffer, options?: { contentType?: string }): Promise<void>;
    delete(name: string): Promise<void>;
    list(prefix?: string): Promise<string[]>;
  };
  /** A queue by its name in the project file. */
  queue(name: string): {
    send(body: unknown): Promise<void>;
    messages(): Promise<Record<string, unknown>[]>;
    /** Waits until the worker has received all messages. */
    drained(options?: { timeout?: number }): Promise<void>;
  };
  /** Runs scheduled() once, and throws what it threw. */
  cron(cron?: string): Promise<Record<string, unknown>>;
  logs(): Promise<Record<string, unknown>[]>;
  /** Writes the log and the data of the branch to a directory, and returns its path. */
  keep(name: string): Promise<string>;
  destroy(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface BranchOptions {
  /** The project, where the worker has others beside it. */
  project?: string;
  /** The version that the branch begins with. */
  parent?: string;
  /** How many branches are made ahead of time for the tests that follow in this process. */
  prepare?: number;
  /** The worker starts with the first request. */
  asleep?: boolean;
}

export function branch(options?: BranchOptions): Promise<Branch>;
/** The version that branches begin with: what is written to it before the first branch is in all of them. */
export function parent(options?: Pick<BranchOptions, "project" | "parent">): Promise<Branch>;
/** Destroys the branches that were made ahead of time and that no test got. */
export function release(): Promise<void>;
