package dev

import "golang.org/x/sys/unix"

const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETS

	disabled = 0 // a control character that is none: _POSIX_VDISABLE
)
