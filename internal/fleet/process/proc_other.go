//go:build !linux

package process

// executable returns the file to execute for path.
func executable(path string) string { return path }

// descriptors returns 0: unknown on this platform.
func descriptors(int) int { return 0 }

// rss returns 0: unknown on this platform.
func rss(int) int64 { return 0 }
