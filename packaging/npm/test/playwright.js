// For Playwright: each test has a branch, and baseURL leads to it.
import { test as base } from "@playwright/test";
import { branch, discard } from "./branch.js";
import { lost } from "./keep.js";

export { expect } from "@playwright/test";
export { branch, parent } from "./branch.js";

export const test = base.extend({
  branchOptions: [{}, { option: true }],
  worker: async ({ branchOptions }, use, info) => {
    const worker = await branch(branchOptions);
    try {
      await use(worker);
      if (info.status !== info.expectedStatus) await lost(worker, info.titlePath.join(" > "));
    } finally {
      discard(worker);
    }
  },
  baseURL: async ({ worker }, use) => { await use(await worker.listen()); },
});
