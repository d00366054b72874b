package agent

import (
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/svc"
)

// Warm starts a worker host and a workerd that wait for a version. The daemon does not know
// the paths of this machine.
func (s *session) Warm(ctx context.Context, c control.Spare) error {
	s.opening.Lock()
	defer s.opening.Unlock()
	p, err := s.start(ctx, c.Isolation)
	if err != nil {
		return err
	}
	spec := p.Fill(svc.RuntimeSpec{Host: svc.HostConfig{Confine: c.Confine, Isolation: c.Isolation, Inspect: c.Inspect}})
	return p.Client().Warm(ctx, control.SpareOf(spec))
}

// Open opens the version on this machine. For a version that is open with the same spec it does
// nothing: a daemon that has started again takes it back.
func (s *session) Open(ctx context.Context, spec svc.RuntimeSpec) error {
	s.opening.Lock()
	defer s.opening.Unlock()
	began := time.Now()
	mark, err := s.place(ctx, &spec)
	if err != nil {
		return err
	}
	if s.isOpen() && mark == s.mark {
		return s.ReadOnly(ctx, spec.ReadOnly) // it may have changed while the daemon did not run
	}
	placed := time.Since(began)
	p, err := s.start(ctx, spec.Host.Isolation)
	if err != nil {
		return err
	}
	if err := s.calls.listen(s.life, spec.Ref, spec.Local.BundleDir, p, s.outbox.add); err != nil { //nolint:contextcheck // until the host ends
		return err
	}
	if err := p.Client().Open(ctx, p.Fill(spec)); err != nil {
		return err
	}
	s.mu.Lock()
	s.ref, s.mark = spec.Ref, mark
	s.mu.Unlock()
	s.logs.Go(func() { s.sendLogs(spec.Local.LogDir, p.Exited()) })
	s.log.InfoContext(ctx, "opened a version", "project", spec.Ref.Project, "version", spec.Ref.Version, "bundle", placed, "duration", time.Since(began))
	return nil
}

// Stage prepares the version on this machine. Its data comes with Open.
func (s *session) Stage(ctx context.Context, spec svc.RuntimeSpec) error {
	s.opening.Lock()
	defer s.opening.Unlock()
	if _, err := s.place(ctx, &spec); err != nil {
		return err
	}
	p, err := s.start(ctx, spec.Host.Isolation)
	if err != nil {
		return err
	}
	return p.Client().Stage(ctx, p.Fill(spec))
}

// Archive ships the data of a version that ran on this machine last, and removes it here.
func (s *session) Archive(ctx context.Context, spec svc.RuntimeSpec) error {
	s.opening.Lock()
	defer s.opening.Unlock()
	s.own(&spec)
	p, err := s.start(ctx, spec.Host.Isolation)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(spec.Local.DataDir, 0o700); err != nil {
		return err
	}
	if err := p.Client().Archive(ctx, p.Fill(spec)); err != nil {
		return err
	}
	return os.RemoveAll(spec.Local.DataDir)
}

// Prepare, and the verbs below, are those of the worker host.
func (s *session) Prepare(ctx context.Context) (svc.Prepared, error) {
	p, err := s.process()
	if err != nil {
		return svc.Prepared{}, err
	}
	return p.Client().Prepare(ctx)
}

// Serve returns names in place of paths: the daemon dials them.
func (s *session) Serve(ctx context.Context) (e svc.Endpoint, err error) {
	p, err := s.process()
	if err == nil {
		e, err = p.Client().Serve(ctx)
	}
	if err == nil {
		e, err = p.Locate(ctx, e)
	}
	if err != nil {
		return svc.Endpoint{}, err
	}
	s.mu.Lock()
	s.port = e.Port
	s.gate.Serve(s.ref, e.PortKey, e.Socket)
	s.mu.Unlock()
	e.Socket, e.Calls = filepath.Base(e.Socket), filepath.Base(e.Calls)
	return e, nil
}

// Ping is control.Handler.Ping.
func (s *session) Ping(ctx context.Context) (control.Pong, error) {
	p, err := s.process()
	if err != nil {
		return control.Pong{}, err
	}
	return p.Client().Ping(ctx)
}

// warmOf separates the machine from the path that lets a child start from files of its parent.
const warmOf = "|"

// Cut marks the local files of the cut with this machine: no other can use them.
func (s *session) Cut(ctx context.Context) (branch.VersionCut, error) {
	p, err := s.process()
	if err != nil {
		return branch.VersionCut{}, err
	}
	cut, err := p.Client().Cut(ctx)
	if cut.Warm != "" {
		cut.Warm = s.machine + warmOf + cut.Warm
	}
	return cut, err
}

// Seal marks the local files of the cut as Cut does. While the data is sealed, the end of the line
// to the daemon ends the worker host: this machine cannot know whether the release was committed.
func (s *session) Seal(ctx context.Context, seal control.Seal) (control.Sealing, error) {
	p, err := s.process()
	if err != nil {
		return control.Sealing{}, err
	}
	switch seal.State {
	case control.SealPaused:
		s.paused.Store(true)
	case control.SealSealed:
		s.sealed.Store(true)
	case control.SealAhead, control.SealReleased, control.SealUndone:
	}
	done, err := p.Client().Seal(ctx, seal)
	if err == nil && seal.State == control.SealUndone {
		s.paused.Store(false)
		s.sealed.Store(false)
	}
	if done.Cut.Warm != "" {
		done.Cut.Warm = s.machine + warmOf + done.Cut.Warm
	}
	return done, err
}

// resume has events begin again that a release had paused, when its line to the daemon has ended: the
// next daemon knows nothing of the pause. It reports false if the worker host does not answer.
func (s *session) resume(ctx context.Context) bool {
	if !s.paused.Load() {
		return true
	}
	p, err := s.process()
	if err == nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), resumeLimit)
		defer cancel()
		_, err = p.Client().Seal(ctx, control.Seal{State: control.SealUndone})
	}
	if err != nil {
		s.log.WarnContext(ctx, "events that a release had paused do not begin again", "error", err)
		return false
	}
	s.paused.Store(false)
	return true
}

// Positions is control.Handler.Positions.
func (s *session) Positions(ctx context.Context) (control.Positions, error) {
	p, err := s.process()
	if err != nil {
		return nil, err
	}
	return p.Client().Positions(ctx)
}

// Events is control.Handler.Events.
func (s *session) Events(ctx context.Context, on bool) error {
	p, err := s.process()
	if err != nil {
		return err
	}
	return p.Client().Events(ctx, on)
}

// ReadOnly is control.Handler.ReadOnly.
func (s *session) ReadOnly(ctx context.Context, on bool) error {
	p, err := s.process()
	if err != nil {
		return err
	}
	return p.Client().ReadOnly(ctx, on)
}

// Stop is control.Handler.Stop.
func (s *session) Stop(ctx context.Context, stop control.Stop) (svc.Wake, error) {
	p, err := s.process()
	if err != nil {
		return svc.Wake{}, err
	}
	s.gate.Close()
	return p.Client().Stop(ctx, stop.Grace)
}

// Dispatch is control.Handler.Dispatch.
func (s *session) Dispatch(ctx context.Context, e svc.Event) (svc.EventResult, error) {
	p, err := s.process()
	if err != nil {
		return svc.EventResult{}, err
	}
	return p.Client().Dispatch(ctx, e)
}

// Arm is control.Handler.Arm.
func (s *session) Arm(ctx context.Context, armed bool) error {
	p, err := s.process()
	if err != nil {
		return err
	}
	return p.Client().Arm(ctx, armed)
}

// NextWake is control.Handler.NextWake.
func (s *session) NextWake(ctx context.Context) (svc.Wake, error) {
	p, err := s.process()
	if err != nil {
		return svc.Wake{}, err
	}
	return p.Client().NextWake(ctx)
}

// PageOut is control.Handler.PageOut.
func (s *session) PageOut(ctx context.Context) (svc.PagedOut, error) {
	p, err := s.process()
	if err != nil {
		return svc.PagedOut{}, err
	}
	return p.Client().PageOut(ctx)
}

// ShowFiles fails: the directory is on the machine of the daemon.
func (s *session) ShowFiles(context.Context, string) error {
	return svc.Errorf(svc.Unprocessable, svc.CodeRuntimeLocalOnly, "a version on another machine cannot show the static files of another one")
}

// Data passes a request on.
func (s *session) Data(w http.ResponseWriter, r *http.Request) {
	p, err := s.process()
	var resp *http.Response
	if err == nil {
		resp, err = p.Client().Data(r)
	}
	if err != nil {
		_ = control.WriteError(w, err) // a daemon that is gone reads no answer
		return
	}
	defer resp.Body.Close()
	maps.Copy(w.Header(), resp.Header)
	w.WriteHeader(resp.StatusCode)
	to := http.NewResponseController(w)
	for buffer := make([]byte, 32<<10); ; {
		n, err := resp.Body.Read(buffer)
		if _, failed := w.Write(buffer[:n]); failed != nil || err != nil {
			if err != nil && err != io.EOF {
				panic(http.ErrAbortHandler) // the daemon must not take the answer for complete
			}
			return
		}
		_ = to.Flush() // the next write reports the same
	}
}

// Measure is control.Machine.Measure.
func (s *session) Measure(context.Context) (u control.Usage, err error) {
	now := time.Now()
	s.asked.Store(&now)
	p, err := s.process()
	if err != nil {
		return u, nil //nolint:nilerr // nothing runs yet
	}
	use := p.Usage()
	u = control.Usage{RSSBytes: use.RSSBytes, Descriptors: use.Descriptors, CPU: use.CPU, Work: p.Work()}
	if d, ok := p.Thread(); ok {
		u.Thread = &d
	}
	return u, nil
}

// Permit is control.Machine.Permit.
func (s *session) Permit(ctx context.Context, p control.Permit) (control.Admitted, error) {
	return s.gate.Permit(ctx, p)
}

// End is control.Machine.End.
func (s *session) End(context.Context) error {
	s.gate.Close()
	if p, err := s.process(); err == nil {
		p.Kill()
	} else {
		s.outbox.add(control.Notice{Gone: &control.Gone{State: "ended before it started"}})
	}
	return nil
}

// Dial is control.Machine.Dial.
func (s *session) Dial(ctx context.Context, to string) (net.Conn, error) {
	if id, ok := strings.CutPrefix(to, control.CallPrefix); ok {
		return s.calls.take(id)
	}
	p, err := s.process()
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	if to == control.DialPort {
		s.mu.Lock()
		defer s.mu.Unlock()
		return d.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)))
	}
	return d.DialContext(ctx, "unix", filepath.Join(p.Dir(), filepath.Base(to)))
}
