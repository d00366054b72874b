//go:build !linux

package dataplane_test

import "testing"

// onDisk does nothing: only Linux has a temporary directory in memory.
func onDisk(*testing.B) {}
