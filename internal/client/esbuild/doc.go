// Package esbuild makes a worker's modules from its sources. It is the only
// package that knows esbuild, which runs inside this process.
//
// The settings are those that make npm's packages run in workerd: conditions
// workerd, worker and browser; builtins of Node and of the runtime stay imports;
// files that a rule names (wasm, text, data) become modules of their own;
// CommonJS that requires a builtin gets it from process.getBuiltinModule.
//
// Node's modules. Whether they exist is decided by the compatibility date and
// flags (nodejs_compat, on by default from 2026-08-04). All of them are native
// in workerd, so nothing is polyfilled. But each came with a later date, up to
// 2026-03-17, and a worker with an older date was promised all of them by
// wrangler's polyfills. So Build reports, in Result.Flags, the flags that turn
// on early exactly the modules that this worker imports; the caller adds them
// to the manifest. A worker that imports none keeps the runtime its date names.
//
// Build reads files and writes none, changes no state, and is safe for
// concurrent use. Failures of the sources are *svc.Error with the code
// build_failed, whose detail holds file:line:col and the source line.
package esbuild
