# A project "shop" with every kind of data: v1, staging, and v7, which began with staging's data.
# Its directory is a git repository, and has the files that the guides name.
mkdir -p worker/migrations worker/src worker/public && cd worker
cat >wrangler.jsonc <<'END'
{
  "name": "shop", "main": "src/index.js", "compatibility_date": "2026-11-01",
  "d1_databases": [{ "binding": "DB", "database_name": "shop" }],
  "kv_namespaces": [{ "binding": "SESSIONS" }],
  "r2_buckets": [{ "binding": "FILES", "bucket_name": "files" }],
  "analytics_engine_datasets": [{ "binding": "VISITS", "dataset": "visits" }],
  "send_email": [{ "name": "MAIL" }],
  "workflows": [{ "binding": "ORDERS", "name": "orders", "class_name": "Order" }],
  "triggers": { "crons": ["0 3 * * *"] }
}
END
cat >src/index.js <<'END'
import { WorkflowEntrypoint } from "cloudflare:workers";
export class Order extends WorkflowEntrypoint {
  async run(event, step) {
    await step.waitForEvent("paid", { type: "paid", timeout: "1 day" });
  }
}
export default {
  async fetch(request, env) {
    const path = new URL(request.url).pathname;
    env.VISITS.writeDataPoint({ blobs: [path] });
    await env.MAIL.send({ from: "shop@example.com", to: "ada@example.com", subject: "visit", text: path });
    return new Response("seen " + path + "\n");
  },
  async scheduled() { console.log("12 carts removed"); }
};
END
echo "CREATE TABLE orders (id INTEGER PRIMARY KEY, state TEXT);" >migrations/0001_orders.sql
echo "INSERT INTO orders (state) VALUES ('new');" >dump.sql
sqlite3 prod.sqlite "CREATE TABLE customers (name TEXT); INSERT INTO customers VALUES ('Ada');"
echo '[{"key":"session/1","value":"Ada"}]' >keys.json
echo "<p>Sale</p>" >banner.html
echo "<svg xmlns='http://www.w3.org/2000/svg'/>" >logo.svg
cp logo.svg public/logo.svg
echo "TOKEN=of-previews" >preview.env
mkdir apps && cp -r "$REPO/examples/services/front" apps/web && cp -r "$REPO/examples/services/users" apps/api
git init -q && git add . && git commit -qm "feat: begin" && git switch -qc cart && git branch feature/cart
ln -s . worker
export GIT_REF=refs/heads/cart
svcctl deploy --version v1 --wait
svcctl deploy --version staging --wait
svcctl deploy --version v7 --parent staging --wait
svcctl curl v7 /seen
svcctl workflows trigger v7 orders --id o-1 --params '{}'
