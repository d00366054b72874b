// Package secrets keeps the secrets of projects sealed in the registry and opens them for the versions
// that start.
//
// A value exists in the clear in the memory of the request that sets it and of the processes that run a
// version with it, and nowhere else: no file, no error and no log line has it. The keys are those of
// SVC_SECRETS_KEY, which the package gets and never stores. A sealed value is bound to its project, name
// and class.
//
// A change of secrets restarts production first, with the new values and before they are recorded, so
// that an interruption leaves either the old values or new ones with which production has started. Then
// it is recorded, and the other versions that use a changed name are restarted.
//
// The daemon wires a [Service]; it is safe for concurrent use. One change of a project runs at a time.
package secrets
