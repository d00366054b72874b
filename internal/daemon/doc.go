// Package daemon wires the control plane: it joins the registry, the object
// store, the supervisor, the gateway and the API, starts them in order and
// stops them in reverse. It holds no rules of its own.
//
// One daemon owns a data directory: a lock file keeps a second one out.
// Start returns when everything serves; Stop waits for what is under way.
package daemon
