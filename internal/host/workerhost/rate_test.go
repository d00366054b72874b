package workerhost

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/host/workerd"
)

// TestRate: more output than the limit is dropped, and a line says how much.
func TestRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex // the timer writes too
		var list []string
		r := newRate(func(l workerd.LogLine) {
			mu.Lock()
			defer mu.Unlock()
			list = append(list, l.Message)
		})
		lines := func() []string {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(list)
		}
		line := workerd.LogLine{Message: strings.Repeat("x", 924)} // with its cost: 1 KiB
		for range outputBurst>>10 + 3 {
			r.Write(line)
		}
		if n := len(lines()); n != outputBurst>>10 {
			t.Errorf("%d lines are logged of a burst", n)
		}
		time.Sleep(2 * tellDropped)
		synctest.Wait()
		if got, want := last(lines()), fmt.Sprintf("lines dropped: 3 (%d bytes): the worker wrote more than 512 KiB per second", 3*924); got != want {
			t.Errorf("the log says %q, want %q", got, want)
		}
		before := len(lines())
		for range 2000 {
			r.Write(line)
		}
		if n := len(lines()) - before; n != 2*outputRate>>10 {
			t.Errorf("%d lines are logged after two seconds", n)
		}
		r.Flush()
		if got := last(lines()); !strings.HasPrefix(got, "lines dropped: 976 ") {
			t.Errorf("the log says %q", got)
		}
		r.Flush()
		if n := len(lines()) - before; n != 2*outputRate>>10+1 {
			t.Errorf("a second flush has logged a line")
		}
	})
}

// TestRateTellsFirst: the number of dropped lines comes before the next accepted line.
func TestRateTellsFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex // the timer writes too
		var list []string
		r := newRate(func(l workerd.LogLine) {
			mu.Lock()
			defer mu.Unlock()
			list = append(list, l.Message)
		})
		lines := func() []string {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(list)
		}
		r.Write(workerd.LogLine{Message: strings.Repeat("x", outputBurst-lineCost)})
		r.Write(workerd.LogLine{Message: "lost"})
		time.Sleep(time.Second / 2)
		r.Write(workerd.LogLine{Message: "kept"})
		if logged := lines(); len(logged) != 3 || !strings.HasPrefix(logged[1], "lines dropped: 1 ") || logged[2] != "kept" {
			t.Errorf("%d lines: %q", len(logged), logged[1:])
		}
	})
}

func last(lines []string) string { return lines[len(lines)-1] }
