package workerhost

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/svcctl/svcctl/internal/host/confine"
)

// openLimit is the time limit for making the file of an object, whose rows may have to come
// from the object store. All of workerd waits.
const openLimit = 5 * time.Second

// opens has the file of a Durable Object made when workerd opens it. Its methods do nothing
// for nil.
type opens struct {
	context context.Context //nolint:containedctx // of what is done for workerd
	objects Objects
	log     *slog.Logger
	failed  func() // ends workerd

	listener *confine.Opens // nil where the system does not report opens
}

// prepare has the calling thread, which is about to start workerd, report what it opens. Where
// that is not possible it makes all files now.
func (o *opens) prepare() (err error) {
	if o == nil {
		return nil
	}
	if o.listener, err = confine.NotifyOpens(); !errors.Is(err, confine.ErrNoOpens) {
		return err
	}
	o.log.InfoContext(o.context, "opens of workerd are not reported; making the files of all durable objects before it starts", "reason", err)
	made := make(chan error)
	go func() { made <- o.objects.MakeAll(o.context) }() // the calling thread may be confined to other files
	return <-made
}

// serve begins to handle the opens of a workerd that has started.
func (o *opens) serve() {
	if o == nil || o.listener == nil {
		return
	}
	go func() {
		if err := o.listener.Serve(o.handle); err != nil {
			o.log.ErrorContext(o.context, "cannot handle what workerd opens; ending it", "error", err)
			o.failed()
		}
	}()
}

// stop ends serve. workerd is gone.
func (o *opens) stop() {
	if o != nil && o.listener != nil {
		_ = o.listener.Close()
	}
}

// handle makes the file that workerd opens.
func (o *opens) handle(path string, unread error) (err error) {
	if unread != nil {
		o.log.WarnContext(o.context, "cannot read which file workerd opens; making the files of all durable objects", "error", unread)
		err = o.objects.MakeAll(o.context)
	} else {
		ctx, cancel := context.WithTimeout(o.context, openLimit)
		defer cancel()
		err = o.objects.Opening(ctx, path)
	}
	if err != nil {
		o.log.ErrorContext(o.context, "cannot make the file of a durable object; its requests fail", "error", err)
	}
	return err
}
