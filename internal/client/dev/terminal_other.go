//go:build !linux

package dev

import "golang.org/x/sys/unix"

const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA

	disabled = 0xff // a control character that is none: _POSIX_VDISABLE
)
