// Package hyperdrive is the binding kind "hyperdrive": a database that the operator lets
// workers connect to. The worker reaches exactly its address, whatever the rules for other
// addresses are.
package hyperdrive
