// Package script runs workers in service-worker format: scripts that register their
// handlers with addEventListener and find their bindings among the globals.
//
// workerd has this format too, without modules: neither the bindings that a module makes
// (D1, and all of the platform's) nor Node's modules work in it. Here the script is a
// CommonJS module, which is sloppy code as a script is, behind modules that give it its
// globals and its events.
//
// Concurrency: all functions may be called at any time.
package script
