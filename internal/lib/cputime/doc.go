// Package cputime reads the processor time of processes.
//
// The worker host and package supervisor limit the starts of workers by it.
package cputime
