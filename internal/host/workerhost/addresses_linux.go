package workerhost

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// addressChanges returns a stream of the kernel's messages about addresses that interfaces of
// this machine get or lose. The caller closes it, which ends a read.
func addressChanges() (*os.File, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_ROUTE)
	if err != nil {
		return nil, fmt.Errorf("following the addresses of this machine: %w", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: unix.RTMGRP_IPV4_IFADDR | unix.RTMGRP_IPV6_IFADDR}); err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("following the addresses of this machine: %w", err)
	}
	return os.NewFile(uintptr(fd), "netlink"), nil
}
