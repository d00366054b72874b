// Package acmetest runs pebble, the test authority of Let's Encrypt, with a name server for
// which every host is this machine, and which takes texts for names. It is a child process, for
// pebble cannot be stopped.
package acmetest
