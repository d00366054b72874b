package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// notify is the source that the system feeds. Without watches left, a poller takes
// its place.
type notify struct {
	root string
	warn func(string)
	add  func(dir string) error // watches a directory
	out  chan string
	stop chan struct{}
	done sync.WaitGroup

	mu     sync.Mutex
	system *fsnotify.Watcher // nil after the change to polling
	poll   *poller           // nil before it
	files  []string          // of also
}

func newNotify(c Config) (*notify, error) {
	if _, err := os.Stat(c.Root); err != nil {
		return nil, fmt.Errorf("watching %s: %w", c.Root, err)
	}
	system, err := fsnotify.NewWatcher()
	n := &notify{root: c.Root, warn: c.Warn, out: make(chan string, 256), stop: make(chan struct{}), system: system}
	if err != nil {
		n.system = nil
		return n, n.fallBack(err)
	}
	n.add = system.Add
	if c.add != nil {
		n.add = c.add(n.add)
	}
	if err := n.enter(c.Root, false); err != nil {
		return n, n.fallBack(err)
	}
	n.done.Go(func() { n.run(system) })
	return n, nil
}

func (n *notify) events() <-chan string { return n.out }

func (n *notify) also(files []string) {
	n.mu.Lock()
	added := without(files, n.files)
	n.files = files
	if n.poll != nil {
		n.poll.also(files)
		added = nil
	}
	n.mu.Unlock()
	if err := n.watchNamed(added, false); err != nil {
		n.change(err)
	}
}

func (n *notify) close() {
	close(n.stop)
	n.mu.Lock()
	if n.system != nil {
		_ = n.system.Close()
	}
	if n.poll != nil {
		n.poll.close()
	}
	n.mu.Unlock()
	n.done.Wait()
}

// enter watches a directory and those below it. report tells of the files in them:
// they may be older than the watch.
func (n *notify) enter(dir string, report bool) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // deleted meanwhile
		case err != nil:
			return err
		case !e.IsDir():
			if report {
				n.send(path)
			}
			return nil
		case path != dir && skipped(e.Name()):
			return filepath.SkipDir
		}
		if err := n.add(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("watching %s: %w", path, err)
		}
		return nil
	})
}

func (n *notify) run(system *fsnotify.Watcher) {
	for {
		select {
		case <-n.stop:
			return
		case e, ok := <-system.Events:
			if !ok {
				return
			}
			if err := n.event(system, e); err != nil {
				n.change(err)
				return
			}
		case err, ok := <-system.Errors:
			if !ok {
				return
			}
			if errors.Is(err, fsnotify.ErrEventOverflow) { // too much changed to name it
				n.send(n.root)
			}
		}
	}
}

// event handles one event. Changes of mode and owner do not change a worker.
func (n *notify) event(system *fsnotify.Watcher, e fsnotify.Event) error {
	if e.Op == fsnotify.Chmod {
		return nil
	}
	if e.Has(fsnotify.Rename) {
		n.leave(system, e.Name)
	}
	if e.Has(fsnotify.Create) {
		if info, err := os.Lstat(e.Name); err == nil && info.IsDir() {
			if err := n.appeared(e.Name); err != nil {
				return err
			}
		}
	}
	n.send(e.Name)
	return nil
}

// leave ends the watches below a directory that has another name now. They would go with
// it, and report the old name.
func (n *notify) leave(system *fsnotify.Watcher, dir string) {
	for _, path := range system.WatchList() {
		if strings.HasPrefix(path, dir+string(filepath.Separator)) {
			_ = system.Remove(path) // it may be deleted
		}
	}
}

func (n *notify) send(path string) {
	select {
	case n.out <- path:
	case <-n.stop:
	}
}

// change changes to polling while the tree may change.
func (n *notify) change(cause error) {
	_ = n.fallBack(cause) // a root that is gone cannot be polled either
	n.send(n.root)        // polling tells of what changes from now on
}

// fallBack changes to polling. It returns an error if polling cannot help either.
func (n *notify) fallBack(cause error) error {
	if _, err := os.Stat(n.root); err != nil {
		return fmt.Errorf("watching %s: %w", n.root, err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	select {
	case <-n.stop: // closed meanwhile
		return nil
	default:
	}
	if n.poll != nil {
		return nil
	}
	if n.system != nil {
		_ = n.system.Close()
		n.system = nil
	}
	n.poll = newPoller(n.root, n.files, n.out)
	if n.warn != nil {
		n.warn(reason(cause))
	}
	return nil
}

// reason says why files are polled, and what helps.
func reason(cause error) string {
	text := "the system cannot watch the files (" + cause.Error() + ")"
	if errors.Is(cause, syscall.ENOSPC) || errors.Is(cause, syscall.EMFILE) {
		text = "the system has no file watches left (raise fs.inotify.max_user_watches and max_user_instances)"
	}
	return text + "; comparing the files every " + pollEvery.String() + " instead"
}
