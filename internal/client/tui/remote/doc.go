// Package remote is the one place of the terminal interface that talks to a server, by
// pkg/client. Its methods return commands of bubbletea, which end with a message of
// package state. A [Remote] follows the events of the server until Close, and
// reconnects by itself.
package remote
