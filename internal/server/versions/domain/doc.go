// Package domain gives projects host names of their own domains.
//
// A host has one owner, which the registry's index decides. Its proof is the word of an operator, or a DNS
// text that names the project: many may ask for a host, and a host that points to this server proves
// nothing, as it would for every project. What the registry says is published to the gateway after each
// change and at the start, so that a crash leaves nothing to repair.
package domain
