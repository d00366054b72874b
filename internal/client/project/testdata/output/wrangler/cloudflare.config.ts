import { bindings, defineConfig, exports, triggers } from "cf/config";
import * as entrypoint from "./src/index.ts" with { type: "cf-worker" };
import { database } from "./config/names.ts";

const mode = process.env.SHOP_STAGE ?? "local";

export default defineConfig(({ isPreview }) => ({
  worker: {
    name: "shop",
    entrypoint,
    compatibilityDate: "2026-11-01",
    compatibilityFlags: ["nodejs_compat"],
    workersDev: true,
    domains: ["shop.example.com"],
    assets: { notFoundHandling: "single-page-application", runWorkerFirst: ["/api/*"] },
    triggers: [triggers.scheduled({ schedule: "*/5 * * * *" }), triggers.queue({ name: "jobs", maxBatchSize: 5, maxRetries: 2 })],
    env: {
      ASSETS: bindings.assets(),
      STAGE: bindings.text(isPreview ? "preview" : mode),
      LIMITS: bindings.json({ items: 10 }),
      TOKEN: bindings.secret(),
      DB: bindings.d1({ name: database }),
      CACHE: bindings.kv(),
      FILES: bindings.r2({ name: "shop-files" }),
      JOBS: bindings.queue({ name: "jobs" }),
      ROOM: bindings.durableObject({ worker: "shop", exportName: "Room" }),
      OFF: isPreview && bindings.images(),
    },
    exports: { Room: exports.durableObject({ storage: "sqlite" }) },
  },
}));
