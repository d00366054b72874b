package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// notify is the source that the system feeds. Without watches left, a poller takes
// its place.
type notify struct {
	root string
	warn func(string)
	out  chan string
	stop chan struct{}
	done sync.WaitGroup
	lost sync.Once

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
	if err := n.enter(c.Root, false); err != nil {
		return n, n.fallBack(err)
	}
	n.done.Go(func() { n.run(system) })
	return n, nil
}

func (n *notify) events() <-chan string { return n.out }

func (n *notify) also(files []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.files = files
	if n.poll != nil {
		n.poll.also(files)
		return
	}
	for _, file := range files {
		_ = n.system.Add(filepath.Dir(file)) // without it, the file is built at the next change of another
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
		case path != n.root && skipped(e.Name()):
			return filepath.SkipDir
		}
		if err := n.system.Add(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
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
			if n.event(e) != nil {
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
func (n *notify) event(e fsnotify.Event) error {
	if e.Op == fsnotify.Chmod {
		return nil
	}
	if e.Has(fsnotify.Create) {
		if info, err := os.Lstat(e.Name); err == nil && info.IsDir() && !skipped(info.Name()) {
			if err := n.enter(e.Name, true); err != nil {
				return errors.Join(err, n.fallBack(err))
			}
			return nil
		}
	}
	n.send(e.Name)
	return nil
}

func (n *notify) send(path string) {
	select {
	case n.out <- path:
	case <-n.stop:
	}
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
	if n.system != nil {
		_ = n.system.Close()
		n.system = nil
	}
	n.poll = newPoller(n.root, n.files, n.out)
	n.lost.Do(func() {
		if n.warn != nil {
			n.warn(reason(cause))
		}
	})
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
