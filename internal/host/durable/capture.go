package durable

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

const (
	captureEvery = 250 * time.Millisecond // while an object is open
	afterFailure = 2 * time.Second
	lookEvery    = time.Second // where files cannot be watched
)

// captured is a change of an object that is not in the rows yet.
type captured struct {
	object *object
	change *change
}

// Follow begins to capture what workerd commits. pause stops workerd for a moment.
func (k *Keeper) Follow(ctx context.Context, pause func() (resume func(), err error)) {
	k.mu.Lock()
	k.pause = pause
	k.mu.Unlock()
	ctx, k.stop = context.WithCancel(context.WithoutCancel(ctx))
	k.stopped = make(chan struct{})
	k.syncing.Go(func() {
		if err := k.settle(ctx); err != nil && ctx.Err() == nil {
			k.cfg.Logger.WarnContext(ctx, "the files of durable objects would not survive a power failure yet; trying again when one is opened", "error", err)
		}
	})
	go k.run(ctx)
}

// run captures while an object is open, and otherwise waits for one to be opened: a file that
// is not open does not change.
func (k *Keeper) run(ctx context.Context) {
	defer close(k.stopped)
	poll := k.watch(ctx)
	k.look(true)
	t := time.NewTimer(0)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.wake:
		case <-t.C:
			k.look(poll != 0)
		}
		wait, err := k.tick(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			k.cfg.Logger.WarnContext(ctx, "cannot store what durable objects wrote; trying again", "error", err)
			wait = afterFailure
		case wait == 0:
			wait = poll
		}
		if wait == 0 {
			t.Stop()
			continue
		}
		t.Reset(wait)
	}
}

// tick captures once and says how soon to come again; 0 for not before a file comes.
func (k *Keeper) tick(ctx context.Context) (time.Duration, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	pages, err := k.capture(ctx)
	again := k.throttle(ctx, pages)
	for _, o := range k.objects {
		if again == 0 && o.live() && o.name != metadata { // alarms change with an object alone
			again = captureEvery
		}
	}
	return again, err
}

// capture brings what changed into the rows, and returns how many pages. It needs the mutex.
func (k *Keeper) capture(ctx context.Context) (pages int, err error) {
	list, err := k.changes()
	for _, item := range list {
		pages += len(item.change.pages)
	}
	if saveErr := k.save(ctx, list); saveErr != nil {
		return pages, errors.Join(err, saveErr)
	}
	return pages, err
}

// changes polls the objects that are open, or were opened or closed, and last the alarms: an
// object that says that an alarm is set needs one that is armed. When alarms changed, all
// is polled again while workerd is paused.
func (k *Keeper) changes() (list []captured, err error) {
	objects, alarms, err := k.candidates()
	if err != nil {
		return nil, err
	}
	list = k.poll(nil, objects...)
	armed := k.poll(nil, alarms...)
	list = append(list, armed...)
	if len(armed) == 0 || k.pause == nil {
		return list, nil
	}
	resume, err := k.stopWorkerd()
	if err != nil {
		return list, fmt.Errorf("pausing workerd: %w", err)
	}
	defer resume()
	return k.poll(list, append(objects, alarms...)...), nil
}

// candidates are the objects that may have changed.
func (k *Keeper) candidates() (objects, alarms []*object, err error) {
	k.touchedMu.Lock()
	touched, all := k.touched, k.all
	k.touched, k.all = map[string]bool{}, false
	k.touchedMu.Unlock()
	k.takeMade()
	if all {
		if err := k.find(); err != nil {
			k.look(true)
			return nil, nil, err
		}
	}
	for _, path := range slices.Collect(maps.Keys(touched)) {
		name, ok := nameOf(filepath.Base(path))
		if !ok {
			continue
		}
		class := filepath.Base(filepath.Dir(path))
		k.object(class, name)
		if name != base(name) { // a facet, which may be new in the list
			touched[k.object(class, base(name)+indexSuffix).path] = true
		}
	}
	for path, o := range k.objects {
		switch {
		case o.name == metadata: // always open
			alarms = append(alarms, o)
		case all || o.live() || touched[path] || !o.known:
			objects = append(objects, o)
		}
	}
	return objects, alarms, nil
}

// takeMade adds the objects whose files were made.
func (k *Keeper) takeMade() {
	k.touchedMu.Lock()
	made := k.made
	k.made = nil
	k.touchedMu.Unlock()
	for _, o := range made {
		if k.objects[o.path] == nil { // otherwise it was seen already, and is read as a whole
			k.objects[o.path] = o
		}
	}
}

// poll adds the changes of objects to list.
func (k *Keeper) poll(list []captured, objects ...*object) []captured {
	for _, o := range objects {
		poll := o.poll
		if isIndex(o.name) {
			poll = o.pollIndex
		}
		c, err := poll()
		if err != nil {
			k.cfg.Logger.Warn("cannot read the file of a durable object; trying again", "error", err)
			o.forget()
		}
		if c != nil {
			list = append(list, captured{o, c})
		}
	}
	return list
}

// save writes changes in one transaction. After an error the objects are read as a whole
// the next time.
func (k *Keeper) save(ctx context.Context, list []captured) error {
	if len(list) == 0 {
		return nil
	}
	err := k.db.Record(ctx, func(c *raw.Conn) error {
		return c.InTx("BEGIN IMMEDIATE", func() error {
			for _, item := range list {
				if err := save(c, item.object.class, item.object.name, item.object.complete(item.change)); err != nil {
					return err
				}
			}
			return nil
		})
	})
	for _, item := range list {
		if err != nil {
			item.object.forget()
		} else {
			item.object.unsaved = nil
		}
	}
	return err
}

// complete adds to c the pages that differ from the rows since the file was restored.
func (o *object) complete(c *change) *change {
	if len(o.unsaved) == 0 || c.count == 0 {
		return c
	}
	pages := maps.Clone(o.unsaved)
	maps.Copy(pages, c.pages)
	maps.DeleteFunc(pages, func(number uint32, _ []byte) bool { return number > c.count })
	return &change{count: c.count, pages: pages}
}

// look marks every file, or with the paths of followers these, as possibly changed.
func (k *Keeper) look(all bool, paths ...string) {
	k.touchedMu.Lock()
	defer k.touchedMu.Unlock()
	k.all = k.all || all
	for _, p := range paths {
		k.touched[p] = true
	}
}

// Cut calls stage at one moment of all objects: workerd is paused, and everything that it
// committed is in the rows.
func (k *Keeper) Cut(ctx context.Context, stage func() error) error {
	resume, err := k.Seal(ctx, stage)
	if err == nil {
		resume()
	}
	return err
}

// Seal is Cut after which workerd stays paused until resume is called: objects write files, which
// no gate holds.
func (k *Keeper) Seal(ctx context.Context, stage func() error) (resume func(), err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, err := k.capture(ctx); err != nil { // most of it, while the objects still run
		return nil, err
	}
	resume = func() {}
	if k.pause != nil {
		if resume, err = k.stopWorkerd(); err != nil {
			return nil, fmt.Errorf("pausing workerd: %w", err)
		}
	}
	if err = k.captureStopped(ctx); err == nil {
		err = stage()
	}
	if err != nil {
		resume()
		return nil, err
	}
	return resume, nil
}

// captureStopped captures what workerd, which is paused, has committed last.
func (k *Keeper) captureStopped(ctx context.Context) error {
	if k.pause == nil {
		return nil
	}
	k.drain()
	objects, alarms, err := k.candidates()
	if err == nil {
		err = k.save(ctx, k.poll(nil, append(objects, alarms...)...))
	}
	return err
}
