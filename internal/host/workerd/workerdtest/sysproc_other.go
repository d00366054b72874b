//go:build !linux

package workerdtest

import "syscall"

// sysProcAttr has nothing to add here: a killed test leaves its workerd.
func sysProcAttr() *syscall.SysProcAttr { return nil }
