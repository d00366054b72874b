// The API of the server that svcctl test runs, or of one that SVCCTL_SERVER names.
import { setTimeout as sleep } from "node:timers/promises";

const env = (name) => {
  const value = process.env[name];
  if (value) return value;
  throw new Error(`${name} is not set: run the tests with svcctl test -- COMMAND, such as svcctl test -- vitest run`);
};

// settings says where the tests run. project and parent may be named.
export function settings({ project, parent } = {}) {
  return {
    server: env("SVCCTL_SERVER").replace(/\/$/, ""),
    token: env("SVCCTL_ADMIN_TOKEN"), deploy: process.env.SVCCTL_DEPLOY_TOKEN || env("SVCCTL_ADMIN_TOKEN"),
    project: project ?? env("SVCCTL_TEST_PROJECT"), parent: parent ?? env("SVCCTL_TEST_PARENT"), keep: process.env.SVCCTL_TEST_KEEP ?? "",
  };
}

// call sends a request to the API and returns the response. A refusal is an error with the code.
export async function call(s, method, path, { body, headers = {}, token = s.token } = {}) {
  const r = await fetch(`${s.server}/v1${path}`, { method, body, headers: { authorization: `Bearer ${token}`, ...headers }, ...(body instanceof ReadableStream && { duplex: "half" }) });
  if (r.ok) return r;
  const text = await r.text();
  let problem = {};
  try {
    problem = JSON.parse(text);
  } catch {} // it is no answer of the API
  const error = new Error(`${method} ${path}: ${problem.code ?? r.status}: ${problem.detail ?? text}${problem.hint ? ": " + problem.hint : ""}`);
  error.code = problem.code;
  throw error;
}

// json sends and receives JSON.
export async function json(s, method, path, body, token) {
  const r = await call(s, method, path, { body: body === undefined ? undefined : JSON.stringify(body), headers: { "content-type": "application/json" }, token });
  return r.status === 204 ? undefined : r.json();
}

export const path = (s, version, rest = "") => `/projects/${s.project}/versions/${version}${rest}`;

// ready waits until a version serves. A deploy takes some 50 ms, so it is looked at often at first.
export async function ready(s, version) {
  for (const began = Date.now(); ; ) {
    const v = await json(s, "GET", path(s, version));
    if (v.status === "ready") return v;
    if (v.status === "failed") throw new Error(`the version ${s.project}/${version} failed: ${v.error}`);
    const took = Date.now() - began;
    if (took > 120_000) throw new Error(`the version ${s.project}/${version} is ${v.status} after two minutes`);
    await sleep(took < 2_000 ? 5 : 200);
  }
}
