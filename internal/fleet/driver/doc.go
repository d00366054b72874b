// Package driver declares what the supervisor needs of the place where worker hosts run. A
// Driver starts worker hosts, or takes those that wait; a Host is one of them. Package process
// has the driver for processes of this machine.
//
// Everything that differs between places is behind these two interfaces: when a version is
// started, restarted, pinged and stopped is the same everywhere.
package driver
