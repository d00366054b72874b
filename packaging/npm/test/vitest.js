// For vitest: the fixture worker is a branch for each test.
import { afterAll, test as base } from "vitest";
import { branch, discard, release } from "./branch.js";
import { lost } from "./keep.js";

export { afterAll, afterEach, assert, beforeAll, beforeEach, describe, expect, vi } from "vitest";
export { branch, parent } from "./branch.js";

const fullName = (task) => [...(task.suite?.name ? [fullName(task.suite)] : []), task.name].join(" > ");

// configure returns a test with other defaults, such as { prepare: 4 }.
export const configure = (defaults = {}) => base.extend({
  worker: async ({ task }, use) => {
    const worker = await branch(defaults);
    try {
      await use(worker);
      if (task.result?.state === "fail" || task.result?.errors?.length) await lost(worker, fullName(task));
    } finally {
      discard(worker);
    }
  },
});

export const test = configure({ prepare: 1 });
export const it = test;
afterAll(release);
