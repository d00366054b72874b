package workerhost

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/host/confine"
	"github.com/svcctl/svcctl/internal/svc"
)

// openLimit is the time limit for making the file of an object, whose rows may have to come
// from the object store. All of workerd waits.
const openLimit = 5 * time.Second

// calls handles system calls of workerd: it makes the file of a Durable Object when workerd opens it,
// and lets workerd connect to no sockets but those of its version. Its methods do nothing for nil.
type calls struct {
	context context.Context //nolint:containedctx // of what is done for workerd
	objects Objects         // nil without any
	dir     string          // of the sockets; "" if workerd may connect to any
	log     *slog.Logger
	failed  func() // ends workerd
	blind   bool   // this process may not handle calls of workerd

	listener *confine.Calls // nil where the system does not report calls
	warned   sync.Once
}

// checked is the directory for calls: that of the version unless nothing is confined.
func checked(mode svc.Confine, dir string) string {
	if mode == svc.ConfineOff {
		return ""
	}
	return dir
}

// prepare has the calling thread, which is about to start workerd, report its calls. Where that is
// not possible it makes all files now.
func (c *calls) prepare() (err error) {
	if c == nil || c.objects == nil && c.dir == "" {
		return nil
	}
	if err = errHidden; !c.blind {
		if c.listener, err = confine.Notify(c.objects != nil, c.dir != ""); !errors.Is(err, confine.ErrNoCalls) {
			return err
		}
	}
	if c.dir != "" && !c.blind { // a workerd with a uid of its own reaches no other sockets
		c.unchecked(err)
	}
	if c.objects == nil {
		return nil
	}
	c.log.InfoContext(c.context, "opens of workerd are not reported; making the files of all durable objects before it starts", "reason", err)
	made := make(chan error)
	go func() { made <- c.objects.MakeAll(c.context) }() // the calling thread may be confined to other files
	return <-made
}

// serve begins to handle the calls of a workerd that has started.
func (c *calls) serve(pid int) {
	if c == nil || c.listener == nil {
		return
	}
	h := confine.Handlers{}
	if c.objects != nil {
		h.Open = c.open
	}
	if c.dir != "" {
		h.Connect, h.Unchecked = c.mayConnect, c.unchecked
	}
	go func() {
		if err := c.listener.Serve(pid, h); err != nil {
			c.log.ErrorContext(c.context, "cannot handle the calls of workerd; ending it", "error", err)
			c.failed()
		}
	}()
}

// stop ends serve. workerd is gone.
func (c *calls) stop() {
	if c != nil && c.listener != nil {
		_ = c.listener.Close()
	}
}

// open makes the file that workerd opens.
func (c *calls) open(path string, unread error) (err error) {
	if unread != nil {
		c.log.WarnContext(c.context, "cannot read which file workerd opens; making the files of all durable objects", "error", unread)
		err = c.objects.MakeAll(c.context)
	} else {
		ctx, cancel := context.WithTimeout(c.context, openLimit)
		defer cancel()
		err = c.objects.Opening(ctx, path)
	}
	if err != nil {
		c.log.ErrorContext(c.context, "cannot make the file of a durable object; its requests fail", "error", err)
	}
	return err
}

// mayConnect reports whether a socket is in the directory of the version, where workerd can make
// neither links nor names for other sockets, or one that resolves names.
func (c *calls) mayConnect(path string) bool {
	if path == filepath.Join(c.dir, filepath.Base(path)) || slices.Contains(confine.Resolvers, path) {
		return true
	}
	c.warned.Do(func() {
		c.log.WarnContext(c.context, "refused to connect workerd to a socket that is not of its version", "path", path)
	})
	return false
}

// unchecked notes that connections of workerd cannot be checked here.
func (c *calls) unchecked(err error) {
	c.log.WarnContext(c.context, "workerd may connect to any socket whose path it knows; continuing", "reason", err)
}
