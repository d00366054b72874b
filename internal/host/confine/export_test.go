//go:build linux

package confine

// Version is that of the kernel's Landlock; 0 for none.
func Version() int { return landlockVersion() }
