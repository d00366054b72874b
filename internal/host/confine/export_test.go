//go:build linux

package confine

// HasPrivate is hasPrivate.
var HasPrivate = hasPrivate

// Version is that of the kernel's Landlock; 0 for none.
func Version() int { return landlockVersion() }
