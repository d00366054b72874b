package dev

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// tidier works in the background: it makes the serving version production (on a server
// of its own), archives the versions before it and destroys those that are not kept.
// What fails is tried again after the next save.
type tidier struct {
	worker *worker
	cancel context.CancelFunc
	done   sync.WaitGroup
	wake   chan struct{}

	mu      sync.Mutex
	current string   // its worker serves
	files   string   // whose static files are served; current, unless only files were saved since
	retired []string // to archive
	gone    []string // to destroy
}

// newTidier starts the work. It ends with stop, not with ctx: the last save is tidied
// up, too.
func newTidier(ctx context.Context, w *worker) *tidier {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	t := &tidier{worker: w, cancel: cancel, wake: make(chan struct{}, 1)}
	for _, save := range w.state.Saves { // a killed session left them
		t.retired = append(t.retired, save.Version, save.data())
	}
	t.done.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.wake:
				t.pause(ctx)
				t.run(ctx)
			}
		}
	})
	return t
}

// The work waits for a pause between saves, which it would slow down, but not for long:
// each version that is to be archived has a process.
const (
	tidyAfter   = 250 * time.Millisecond
	mostRetired = 4
)

// pause waits until no version has been replaced for a moment.
func (t *tidier) pause(ctx context.Context) {
	quiet := time.NewTimer(tidyAfter)
	defer quiet.Stop()
	for t.waiting() < mostRetired {
		select {
		case <-ctx.Done():
			return
		case <-quiet.C:
			return
		case <-t.wake:
			quiet.Reset(tidyAfter)
		}
	}
}

func (t *tidier) waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.retired)
}

// stop ends the work. The server finishes what it has begun.
func (t *tidier) stop() {
	t.cancel()
	t.done.Wait()
}

func (t *tidier) serving() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current != ""
}

// serve makes id the version whose worker serves, and files that of the static files.
func (t *tidier) serve(id, files string) {
	t.mu.Lock()
	t.retired = append(t.retired, t.current, t.files)
	t.current, t.files = id, files
	t.retired = slices.DeleteFunc(t.retired, func(r string) bool { return r == "" || r == id || r == files })
	slices.Sort(t.retired)
	t.retired = slices.Compact(t.retired)
	t.mu.Unlock()
	t.signal()
}

// discard destroys a version.
func (t *tidier) discard(id string) {
	t.mu.Lock()
	t.retired = slices.DeleteFunc(t.retired, func(r string) bool { return r == id })
	t.gone = append(t.gone, id)
	t.mu.Unlock()
	t.signal()
}

func (t *tidier) signal() {
	select {
	case t.wake <- struct{}{}:
	default: // a run is due already
	}
}

func (t *tidier) take() (current string, retired, gone []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	current, retired, gone = t.current, t.retired, t.gone
	t.retired, t.gone = nil, nil
	return current, retired, gone
}

// left are the versions that run: those to archive, and the one that serves, unless
// nothing has served.
func (t *tidier) left() []string {
	current, retired, _ := t.take()
	if current == "" {
		return nil
	}
	return append(retired, current)
}

func (t *tidier) giveBack(retired, gone []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.retired = append(retired, t.retired...)
	t.gone = append(gone, t.gone...)
}

func (t *tidier) run(ctx context.Context) {
	current, retired, gone := t.take()
	if current == "" {
		t.giveBack(retired, gone)
		return
	}
	c, project := t.worker.server.Client, t.worker.project
	if t.worker.server.Own {
		t.log(ctx, "promote", current, t.promote(ctx, current))
	}
	var again, left []string
	for _, id := range retired {
		if _, err := c.Archive(ctx, project, id); err != nil && !over(err) {
			t.log(ctx, "archive", id, err)
			again = append(again, id)
		}
	}
	for _, id := range gone {
		if _, err := c.Destroy(ctx, project, id); err != nil && !over(err) {
			t.log(ctx, "destroy", id, err)
			left = append(left, id)
		}
	}
	t.giveBack(again, left)
}

// promote makes the version production, for what only production gets: cron, and the
// host name of the project.
func (t *tidier) promote(ctx context.Context, id string) error {
	accepted, err := t.worker.server.Client.Promote(ctx, t.worker.project, id, api.PromoteVersion{Reason: "svcctl dev", LeaveWrites: true})
	if err != nil || accepted.Status == api.PromotionStatusUnchanged {
		return err
	}
	_, err = t.worker.server.Client.WaitPromotion(ctx, t.worker.project, accepted.OperationID)
	return err
}

// over reports whether err says that there is nothing to archive or destroy.
func over(err error) bool {
	switch client.CodeOf(err) {
	case svc.CodeVersionNotFound, svc.CodeVersionDestroyed, svc.CodeVersionNotReady, svc.CodeVersionIsProduction:
		return true
	}
	return false
}

func (t *tidier) log(ctx context.Context, verb, id string, err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		t.worker.cfg.Logger.WarnContext(ctx, "cleanup of versions incomplete; retrying after the next save", "verb", verb, "version", id, "error", err)
	}
}
