// Prints what miniflare's own R2 gives for the cases of TestOracle, as JSON.
// Run by: MINIFLARE=<directory with node_modules/miniflare> go test -run TestOracle -record
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const [root, cases, date, names] = process.argv.slice(2);
const require = createRequire(join(root, "package.json"));
const { Miniflare } = require("miniflare");
const recorded = {};
for (const name of names.split(",")) {
  const mf = new Miniflare({ modules: true, script: readFileSync(cases, "utf8"), compatibilityDate: date, r2Buckets: ["B"] });
  const answer = await mf.dispatchFetch("http://worker.test/" + name, { method: "POST" });
  if (answer.status !== 200) throw new Error(name + ": " + (await answer.text()));
  recorded[name] = (await answer.text()).split("\n").map((line) => JSON.parse(line));
  await mf.dispose();
}
console.log(JSON.stringify(recorded));
