import type { TestType, PlaywrightTestArgs, PlaywrightTestOptions, PlaywrightWorkerArgs, PlaywrightWorkerOptions } from "@playwright/test";
import type { Branch, BranchOptions } from "./index.js";
export { expect } from "@playwright/test";
export { branch, parent } from "./index.js";

export const test: TestType<PlaywrightTestArgs & PlaywrightTestOptions & { worker: Branch; branchOptions: BranchOptions }, PlaywrightWorkerArgs & PlaywrightWorkerOptions>;
