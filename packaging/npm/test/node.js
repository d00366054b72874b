// For node:test: a test gets its branch as second argument.
import { after, describe, it as itOfNode, test as testOfNode } from "node:test";
import { branch, discard, release } from "./branch.js";
import { lost } from "./keep.js";

export { branch, parent } from "./branch.js";
export { after, describe };

after(release);

function withBranch(define, defaults) {
  return (name, ...rest) => {
    const fn = rest.pop();
    const { project, parent, prepare = defaults.prepare, asleep, ...options } = rest[0] ?? {};
    return define(name, options, async (t) => {
      const worker = await branch({ project, parent, prepare, asleep });
      try {
        await fn(t, worker);
      } catch (e) {
        await lost(worker, t.fullName ?? name);
        throw e;
      } finally {
        discard(worker);
      }
    });
  };
}

// configure returns test and it with other defaults, such as { prepare: 4 }.
export function configure(defaults = {}) {
  const test = withBranch(testOfNode, defaults), it = withBranch(itOfNode, defaults);
  for (const mode of ["only", "skip", "todo"]) {
    test[mode] = withBranch(testOfNode[mode], defaults);
    it[mode] = withBranch(itOfNode[mode], defaults);
  }
  return { test, it };
}

export const { test, it } = configure({ prepare: 1 });
export default test;
