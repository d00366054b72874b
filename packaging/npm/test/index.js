export { Branch, branch, parent, release } from "./branch.js";
