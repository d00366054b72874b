//go:build linux

package confine_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/svcctl/svcctl/internal/host/confine"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// collect collects garbage on a thread whose calls no goroutine serves yet, while another one is busy.
func collect(context.Context, []string) error {
	var busy atomic.Bool
	busy.Store(true)
	for range 2 {
		go func() {
			for n := 0; busy.Load(); n++ {
			}
		}()
	}
	defer busy.Store(false)
	collected := make(chan error)
	go func() {
		runtime.LockOSThread() // and ends with the goroutine
		_, err := confine.Notify(false, true)
		for range 20 {
			runtime.GC()
		}
		collected <- err
	}()
	err := <-collected
	fmt.Fprintln(os.Stdout, "collected")
	return err
}

// TestCollectWhileConfined: a thread that starts a program may stop all goroutines before its calls are
// served: Go's runtime interrupts other threads by signals, which do not wait.
func TestCollectWhileConfined(t *testing.T) {
	t.Parallel()
	child := svctest.Start(t, "collect")
	if child == nil {
		t.FailNow()
	}
	if said := child.Result(t); len(said) == 0 || said[len(said)-1] != "collected" {
		t.Errorf("it said %q", said)
	}
}
