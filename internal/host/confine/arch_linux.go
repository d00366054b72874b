//go:build linux && !amd64 && !arm64

package confine

const arch = 0
