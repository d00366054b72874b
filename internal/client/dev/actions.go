package dev

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/client/front"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// restart replaces the version that serves by one of the same bundle, whose process is
// new.
func (w *worker) restart(ctx context.Context) error {
	current := w.state.current()
	if current == nil {
		w.out.note("no version serves yet")
		return nil
	}
	return w.again(ctx, *current, *current, "restart")
}

// branchAgain replaces the data of the version that serves by the data that the parent of
// the session has now.
func (w *worker) branchAgain(ctx context.Context) error {
	current, parent := w.state.current(), w.cfg.Parent
	switch {
	case current == nil:
		w.out.note("no version serves yet")
		return nil
	case parent == "":
		w.out.note("the session has no parent to branch data from (--parent VERSION); r goes back to the data of a save")
		return nil
	}
	return w.again(ctx, *current, Save{Version: parent}, "data of "+parent)
}

// again makes a version of the bundle of one save with the data of another.
func (w *worker) again(ctx context.Context, code, data Save, what string) error {
	file, err := copyFile(w.bundle(code.Version), w.folder.path)
	if err != nil {
		w.out.note("%s failed: the bundle of save %d: %v", what, code.N, err)
		return nil
	}
	a := attempt{began: time.Now(), changed: []string{what}, parent: data.data(), env: w.env}
	return w.replace(ctx, a, bundleFile{file, code.Digest})
}

// public shows the address of the version that serves for others: that of the shared
// server, which a save changes.
func (w *worker) public(ctx context.Context) {
	current := w.state.current()
	switch {
	case current == nil:
		w.out.note("no version serves yet")
	case w.server.Own:
		w.out.note("the server runs in this command, for this machine alone; log in to a shared one (svcctl login) to have a public URL for each save")
	default:
		v, err := w.server.Client.Version(ctx, w.project, current.data())
		if err != nil {
			w.out.note("public URL: %v", err)
			return
		}
		w.out.line("save %d: %s", current.N, clean(v.PreviewURL))
	}
}

// askCron runs the scheduled handler with a cron of the project file, and asks for one if there are several.
func (w *worker) askCron(ctx context.Context) {
	var crons []string
	if w.built != nil {
		crons = w.built.Config.Crons
	}
	switch {
	case w.state.current() == nil:
		w.out.note("no version serves yet")
	case len(crons) > 1:
		w.ask("cron, by number ("+numbered(crons)+"; Esc: none): ", func(ctx context.Context, answer string) error {
			n, _ := strconv.Atoi(strings.TrimSpace(answer)) // 0 is no cron
			if n < 1 || n > len(crons) {
				w.out.note("there is no cron %s", clean(answer))
				return nil
			}
			w.cron(ctx, crons[n-1])
			return nil
		})
	default:
		w.cron(ctx, strings.Join(crons, ""))
	}
}

// numbered is "1: a, 2: b".
func numbered(list []string) string {
	words := make([]string, len(list))
	for i, word := range list {
		words[i] = fmt.Sprintf("%d: %s", i+1, clean(word))
	}
	return strings.Join(words, ", ")
}

// cron runs the scheduled handler once. expression may be "".
func (w *worker) cron(ctx context.Context, expression string) {
	run, err := w.scheduled(ctx, w.state.current().data(), api.TriggerScheduled{Cron: expression})
	name := strings.TrimSpace("cron " + clean(expression))
	switch {
	case err != nil:
		w.out.note("%s: %v", name, err)
	case run.Error != nil:
		w.out.line("%s: %s after %dms: %s", name, w.out.paint(red, string(run.Outcome)), run.DurationMs, clean(run.Error.Message))
	default:
		w.out.line("%s: %s after %dms", name, run.Outcome, run.DurationMs)
	}
}

// cronOf runs the scheduled handler of a version for a request (front.Config.Cron).
func (w *worker) cronOf(ctx context.Context, c front.Cron) (outcome string, err error) {
	order := api.TriggerScheduled{Cron: c.Expression}
	if !c.At.IsZero() {
		order.ScheduledTime = &api.Time{Time: c.At}
	}
	run, err := w.scheduled(ctx, c.Version, order)
	if err == nil && run.Error != nil {
		err = errors.New(run.Error.Message)
	}
	return cmp.Or(string(run.Outcome), "not run"), err
}

const (
	startLimit = 10 * time.Second // of a version that the session before has left
	startPace  = 50 * time.Millisecond
)

// scheduled runs the scheduled handler. A version of the session before may still be starting: the
// gateway holds requests for it, but not events.
func (w *worker) scheduled(ctx context.Context, version string, order api.TriggerScheduled) (run api.ScheduledRun, err error) {
	for began := time.Now(); ; {
		run, err = w.server.Client.TriggerScheduled(ctx, w.project, version, order)
		if client.CodeOf(err) != svc.CodeRuntimeUnavailable || time.Since(began) > startLimit {
			return run, err
		}
		select {
		case <-time.After(startPace):
		case <-ctx.Done():
			return run, ctx.Err()
		}
	}
}
