import type { TestContext, TestOptions } from "node:test";
import type { Branch, BranchOptions } from "./index.js";
export { branch, parent } from "./index.js";
export { after, describe } from "node:test";

type Body = (t: TestContext, worker: Branch) => void | Promise<void>;
interface Test {
  (name: string, fn: Body): Promise<void>;
  (name: string, options: TestOptions & BranchOptions, fn: Body): Promise<void>;
}
type Tests = Test & { only: Test; skip: Test; todo: Test };
export function configure(defaults?: BranchOptions): { test: Tests; it: Tests };
export const test: Tests;
export const it: Tests;
export default test;
