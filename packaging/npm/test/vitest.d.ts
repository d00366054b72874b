import type { TestAPI } from "vitest";
import type { Branch, BranchOptions } from "./index.js";
export { afterAll, afterEach, assert, beforeAll, beforeEach, describe, expect, vi } from "vitest";
export { branch, parent } from "./index.js";

export function configure(defaults?: BranchOptions): TestAPI<{ worker: Branch }>;
export const test: TestAPI<{ worker: Branch }>;
export const it: TestAPI<{ worker: Branch }>;
