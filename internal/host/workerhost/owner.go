package workerhost

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strconv"

	"github.com/svcctl/svcctl/internal/host/isolate"
	"github.com/svcctl/svcctl/internal/svc"
)

// objectsFD is the descriptor of the directory for Durable Objects in an isolated workerd, after those
// of the control messages and of the config. Its path is below directories of the server.
const objectsFD = 5

var errHidden = errors.New("this process may not handle calls of a workerd with another uid (CAP_SYS_PTRACE)")

// owner is the uid that a workerd has for itself. The methods of nil are for one with the uid of this
// process.
type owner struct {
	lease   *isolate.Lease
	objects string // directory for Durable Objects; "" for none
}

// takeOwner takes a uid; nil without isolation.
func takeOwner(from svc.Isolation) (*owner, error) {
	if !from.On() {
		return nil, nil // as the type says
	}
	lease, err := isolate.Take(isolate.Base, from)
	if err != nil {
		return nil, err
	}
	return &owner{lease: lease}, nil
}

// ownerFor takes a uid for the workerd of v, and gives it the files of Durable Objects.
func ownerFor(v *version) (*owner, error) {
	o, err := takeOwner(v.spec.Host.Isolation)
	objects := v.resources.Objects()
	if err != nil || o == nil || objects == nil {
		return o, err
	}
	if err := objects.Own(o.lease.UID); err != nil {
		return nil, errors.Join(err, o.lease.Close())
	}
	o.objects = objects.Dir()
	return o, nil
}

// dress has cmd run with the uid. Call release after it was started.
func (o *owner) dress(cmd *exec.Cmd) (release func(), err error) {
	if o == nil {
		return func() {}, nil
	}
	var dir *os.File
	if o.objects != "" {
		if dir, err = os.Open(o.objects); err != nil {
			return nil, err
		}
		cmd.ExtraFiles = append(cmd.ExtraFiles, dir) // objectsFD
	}
	closeProgram, err := o.lease.Dress(cmd)
	if err != nil {
		_ = dir.Close() // nil, too
		return nil, err
	}
	return func() { closeProgram(); _ = dir.Close() }, nil
}

// bar ends the right of workerd, which listens, to make files beside its sockets.
func (o *owner) bar(dir string) error {
	if o == nil {
		return nil
	}
	return o.lease.Bar(dir)
}

// isHidden reports whether this process may not look into workerd.
func (o *owner) isHidden() bool { return o != nil && !isolate.MayTrace() }

// ended takes the files back from a workerd that has ended, and then its uid. If that fails, the uid
// stays taken as long as this process, and the files are taken back when they are opened next.
func (o *owner) ended(log *slog.Logger) {
	if o == nil {
		return
	}
	back := make(chan error)
	go func() { back <- o.takeBack() }() // the thread that started workerd is confined and may not
	if err := <-back; err != nil {
		log.Error("cannot take back what a workerd had; trying again when the version starts", "uid", o.lease.UID, "error", err)
	}
}

func (o *owner) takeBack() error {
	if o.objects != "" {
		if err := o.lease.Evict(); err != nil {
			return err
		}
		if err := isolate.TakeBack(o.objects); err != nil {
			return err
		}
	}
	return o.lease.Close()
}

// isolated reports whether the version's workerd has a uid of its own.
func (v *version) isolated() bool { return v.spec.Host.Isolation.On() }

// objectsPath is where workerd finds the directory for Durable Objects; "" for none.
func (v *version) objectsPath() string {
	dir := v.objectsDir()
	if dir != "" && v.isolated() {
		return "/proc/self/fd/" + strconv.Itoa(objectsFD)
	}
	return dir
}

// makePingDir makes the empty directory that workerd serves to Ping.
func (v *version) makePingDir(dir string) error {
	err := os.MkdirAll(dir, 0o700)
	if err == nil && v.isolated() {
		err = os.Chmod(dir, 0o755) //nolint:gosec // the directory around it is private
	}
	if err != nil {
		return fmt.Errorf("making the directory to ping: %w", err)
	}
	return nil
}
