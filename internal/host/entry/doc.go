// Package entry puts a module of the platform in front of the main module of a worker.
// Each event (a request, a scheduled run, a call of an entrypoint's method) then runs as an
// Invocation, an object in an AsyncLocalStorage, and modules of the platform that the
// event calls can tell it from the other events of the isolate. The order of the calls
// to bindings depends on that (ADR 11).
//
// Lines of the console, and the exception that an Invocation ends with, get its id (console.js
// says how): the name of the request that the gateway put into traceparent, or "~" and a
// number. The name is read when the Invocation begins, so that it need not keep the request.
// The host learns which of its events a number is, and how calls end that it does not see
// (record.js). Listeners of websockets have the id of their request (websocket.js).
//
// An invocation whose trace the server records prints spans: its own and those of its calls of
// bindings (trace.js).
//
// Calls of fetch are counted in the Invocation too (subrequests.js).
//
// Alarms of Durable Objects wait while the host says so (alarms.js).
//
// The worker does not notice the entry module: its exports are those of the main module,
// its classes are the same objects, and an object with handlers keeps its this. Handlers
// that are fields of an instance, and handlers of frozen prototypes, run without an
// Invocation, and alarms among them do not wait.
//
// Ownership: the caller adds Extensions to the extensions of workerd's config.
// Concurrency: all functions may be called at any time.
package entry
