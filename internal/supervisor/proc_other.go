//go:build !linux

package supervisor

// executable is the file to execute for path.
func executable(path string) string { return path }

// rss is not known here.
func rss(int) int64 { return 0 }
