// What a client in TypeScript does that was generated from the OpenAPI document: the types of
// requests and answers are the document's, so that a wrong one does not compile.
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

type Version = components["schemas"]["Version"];

function must(ok: unknown, what: string): asserts ok {
  if (!ok) throw new Error(what);
}

const client = (url: string, token: string) => createClient<paths>({ baseUrl: `${url}/v1`, headers: { Authorization: `Bearer ${token}` } });

/** smoke deploys a bundle, promotes it, reads and changes its data, and cleans up. */
export async function smoke(url: string, tokens: { admin: string; deploy: string }, bundle: Uint8Array<ArrayBuffer>, ask: (url: string) => Promise<string>) {
  const admin = client(url, tokens.admin), deploy = client(url, tokens.deploy);
  const project = { project: "typed" }, v1 = { ...project, version: "v1" };

  const created = await admin.POST("/projects", { body: { id: "typed" } });
  must(created.data?.id === "typed", `create a project: ${JSON.stringify(created.error)}`);
  const accepted = await deploy.POST("/projects/{project}/versions", { params: { path: project }, body: { id: "v1", upload: true, git_ref: "main" } });
  const upload = accepted.data?.upload;
  must(upload, `create a version: ${JSON.stringify(accepted.error)}`);
  const put = await fetch(upload.url, { method: upload.method, headers: upload.headers, body: bundle });
  must(put.ok, `upload: ${put.status} ${await put.text()}`);

  const read = async (): Promise<Version> => {
    const { data, error } = await admin.GET("/projects/{project}/versions/{version}", { params: { path: v1 } });
    must(data, `read the version: ${JSON.stringify(error)}`);
    return data;
  };
  let version = await read();
  for (const end = Date.now() + 60_000; version.status !== "ready"; version = await read()) {
    must(version.status !== "failed" && Date.now() < end, `the version is ${version.status}: ${version.error}`);
  }
  must((await ask(version.preview_url)) === "typed", "the worker answers on its preview host");

  const promoted = await admin.POST("/projects/{project}/versions/{version}/promote", { params: { path: v1 }, body: { reason: "smoke" } });
  must(promoted.data, `promote: ${JSON.stringify(promoted.error)}`);
  const list = await admin.GET("/projects/{project}/versions", { params: { path: project, query: { limit: 10 } } });
  must(list.data?.items.length === 1 && list.data.next_cursor === null, `list: ${JSON.stringify(list)}`);

  const key = { ...v1, namespace: "KV", key: "a/b" };
  const stored = await admin.PUT("/projects/{project}/versions/{version}/kv/{namespace}/values/{key}", { params: { path: key }, body: "text", bodySerializer: (b) => b });
  must(stored.response.ok, `store a value: ${JSON.stringify(stored.error)}`);
  const value = await admin.GET("/projects/{project}/versions/{version}/kv/{namespace}/values/{key}", { params: { path: key }, parseAs: "text" });
  must(value.data === "text", `read a value: ${value.data}`);

  const refused = await admin.DELETE("/projects/{project}/versions/{version}", { params: { path: v1 } });
  must(refused.error?.code === "version_is_production" && refused.error.status === 409, `destroy production: ${JSON.stringify(refused)}`);
  const forbidden = await deploy.GET("/projects", {});
  must(forbidden.error?.code === "forbidden", `a list with the deploy token: ${JSON.stringify(forbidden)}`);
  const gone = await admin.DELETE("/projects/{project}", { params: { path: project, query: { production: "v1" } } });
  must(gone.response.ok, `delete the project: ${JSON.stringify(gone.error)}`);
}
