//go:build !linux

package confine

// Supported reports whether Thread confines to files.
func Supported() bool { return false }

// Thread does nothing on this platform.
func Thread(Profile) (Report, error) { return Report{}, nil }

// Privileges does nothing on this platform.
func Privileges() error { return nil }

// Limit does nothing on this platform.
func Limit(int) error { return nil }
