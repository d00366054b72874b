package workerhost

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// configFile is a rendered config on its way to workerd: a file without a name
// to inherit, or a path.
type configFile struct {
	file *os.File
	path string
}

// writeConfig puts the config into memory.
func writeConfig(_ string, text []byte) (*configFile, error) {
	fd, err := unix.MemfdCreate("workerd-config", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("making workerd's config: %w", os.NewSyscallError("memfd_create", err))
	}
	f := os.NewFile(uintptr(fd), "workerd-config")
	if _, err := f.Write(text); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("writing workerd's config: %w", err)
	}
	return &configFile{file: f}, nil
}

func (c *configFile) remove() { _ = c.file.Close() }
