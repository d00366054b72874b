// What is left of a test that failed: the log and the data of its branch.
import { createWriteStream } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { call, json, path } from "./api.js";

const plain = (name) => name.replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^[-.]+|[-.]+$/g, "").slice(0, 100) || "test";

// line is one line of a log, as svcctl logs prints it.
const line = (l) => [l.time, l.level, l.message ?? (l.invocation && `${l.invocation.kind} ${l.invocation.detail} ${l.invocation.outcome}`)].filter(Boolean).join(" ");

export async function keep(s, branch, name) {
  const dir = join(s.keep || ".svcctl/test", plain(name));
  await mkdir(dir, { recursive: true });
  const log = await json(s, "GET", path(s, branch.id, "/logs?tail=1000"));
  await writeFile(join(dir, "log.jsonl"), log.items.map((l) => JSON.stringify(l) + "\n").join(""));
  await writeFile(join(dir, "log.txt"), log.items.map((l) => line(l) + "\n").join(""));
  const data = await call(s, "GET", path(s, branch.id, "/data/export"));
  await pipeline(Readable.fromWeb(data.body), createWriteStream(join(dir, "data.jsonl")));
  return dir;
}

// lost keeps what is left of a failed test, and says where. It never hides the failure of the test.
export async function lost(branch, name) {
  try {
    console.error(`svcctl: the log and the data of "${name}" are in ${await branch.keep(name)}`);
  } catch (e) {
    console.error(`svcctl: the log and the data of "${name}" could not be kept: ${e.message}`);
  }
}
