// Package evaluate runs a project file that is a program: cloudflare.config.ts, with wrangler.config.ts
// beside it. esbuild makes one module of both; workerd runs it, without network, files and bindings, and
// returns what they export as JSON. Node.js is not needed.
//
// The caller gives the path of workerd. One evaluation is one process that ends with it. Results are kept
// for the life of this process and hold until a file that was read changes; everything is safe for
// concurrent use.
//
// Errors are *svc.Error: config_invalid for what the file does wrong, with the place in its source, and
// config_not_evaluated if there is no workerd to run it.
package evaluate
