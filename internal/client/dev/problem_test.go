package dev

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
)

// A full disk is named with what to do, as the deadline of a deploy names it.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("pack bundle: %w", &os.PathError{Op: "write", Path: "bundles/x.tar.zst", Err: syscall.ENOSPC})
	p := problemOf(err, nil)
	if p.Code != svc.CodeDiskFull || p.Title != "the disk of the worker directory is full" ||
		!strings.HasPrefix(p.Detail, "pack bundle: write bundles/x.tar.zst: ") || !strings.HasSuffix(p.Detail, "\nfree disk space, and save again") {
		t.Errorf("%+v", p)
	}
}
