//go:build e2e && linux

package e2e

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// The numbers of TestUIUnderLoad are small by default; `make torture` has the full ones.
var (
	uiProjects = flag.Int("ui.projects", 3, "projects of TestUIUnderLoad")
	uiVersions = flag.Int("ui.versions", 9, "versions of all projects of TestUIUnderLoad")
	uiRate     = flag.Float64("ui.rate", 50, "events per second of TestUIUnderLoad")
	uiKeys     = flag.Int("ui.keys", 8, "keys of TestUIUnderLoad that are measured")
	uiKey      = flag.Duration("ui.key", 0, "maximum time from a key to its effect on the terminal; 0 for none")
	uiMemory   = flag.Int64("ui.memory", 0, "maximum memory of the interface in MiB; 0 for none")
)

// TestUIUnderLoad: the interface answers keys while many versions have many events.
func TestUIUnderLoad(t *testing.T) {
	t.Parallel()
	d := started(t, "SVC_ARTIFACT_WAIT=1h", "SVC_LOG_LEVEL=warn")
	refs := d.pending(*uiProjects, *uiVersions)
	ctx, cancel := context.WithCancel(t.Context())
	var events sync.WaitGroup
	defer events.Wait()
	defer cancel()
	events.Go(func() { d.inserts(ctx, *uiRate, refs) })
	events.Go(func() { d.touches(ctx, refs[0]) })
	a := d.ui(d.note.API, "p00")
	a.Resize(120, 50)
	each := *uiVersions / *uiProjects
	a.sees(fmt.Sprintf(">v%03d", each-1)) // the newest one
	a.settles()
	var took []time.Duration
	at, down := each-1, true
	for range *uiKeys {
		if at == 0 || at == each-1 {
			down = at != 0
		}
		key := "k"
		if at++; down {
			key, at = "j", at-2
		}
		took = append(took, a.answers(key, fmt.Sprintf(">v%03d", at)))
	}
	for n := range *uiProjects { // through the projects, with a list of each
		i := (n + 1) % *uiProjects
		took = append(took, a.answers(fmt.Sprintf(":versions p%02d\r", i), fmt.Sprintf("p%02d › versions", i)))
	}
	memory := residentOf(a.cmd.Process.Pid) >> 20
	slices.Sort(took)
	t.Logf("%d projects, %d versions, %.0f events/s: keys answered in %v (median), %v (99%%), %v (slowest); memory %d MiB",
		*uiProjects, *uiVersions, *uiRate, took[len(took)/2], took[len(took)*99/100], took[len(took)-1], memory)
	if *uiKey > 0 && took[len(took)-1] > *uiKey {
		t.Errorf("a key took %s", took[len(took)-1])
	}
	if *uiMemory > 0 && memory > *uiMemory {
		t.Errorf("the interface has %d MiB", memory)
	}
}

// pending creates versions that wait for their bundle, in projects p00, p01 and so on.
func (d *daemon) pending(projects, versions int) (refs []svc.Ref) {
	d.t.Helper()
	for i := range projects {
		project := fmt.Sprintf("p%02d", i)
		d.project(project)
		for k := range versions / projects {
			d.accept(project, api.CreateVersion{ID: fmt.Sprintf("v%03d", k)})
			refs = append(refs, svc.Ref{Project: project, Version: fmt.Sprintf("v%03d", k)})
		}
	}
	return refs
}

// touches changes a version now and then, which tells the daemon of the other events.
func (d *daemon) touches(ctx context.Context, ref svc.Ref) {
	c := d.client()
	for k := 0; ctx.Err() == nil; k++ {
		change := c.Pin
		if k%2 == 1 {
			change = c.Unpin
		}
		if _, err := change(d.t.Context(), ref.Project, ref.Version); err != nil {
			d.t.Error(err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// settles waits until the interface has drawn what it began with.
func (a *admin) settles() {
	a.t.Helper()
	a.answers("?", "every table")
	a.answers("\x1b", "ERROR")
}

// answers presses keys and returns after how long a text was drawn.
func (a *admin) answers(keys, text string) time.Duration {
	a.t.Helper()
	a.read = len(a.out.String())
	begin := time.Now()
	a.Press(keys)
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for patience := begin.Add(svctest.Patience); ; <-look.C {
		drawn := a.out.String()
		if i := strings.Index(escapes.ReplaceAllString(drawn[a.read:], ""), text); i >= 0 {
			a.read = len(drawn)
			return time.Since(begin)
		}
		if time.Now().After(patience) {
			a.t.Fatalf("after %q the terminal does not show %q but %q", keys, text, drawn[a.read:])
		}
	}
}
