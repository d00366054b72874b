import { defineWranglerConfig } from "wrangler/experimental-config";
export default defineWranglerConfig({ assetsDirectory: "./public", rules: [{ type: "Text", globs: ["**/*.md"], fallthrough: true }], types: { generate: false } });
