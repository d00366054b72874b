package logs

import (
	"bytes"
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/lib/ring"
	"github.com/svcctl/svcctl/internal/lib/sourcemap"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	lookEvery  = 10 * time.Millisecond  // for an exception
	coarseTime = 100 * time.Millisecond // the times of files are less exact than the clock
)

// Exception returns the first exception of the request id of ref, which began at since, with
// its stack in the sources. An exception is written shortly after the response, so Exception
// waits for it until ctx ends, or Stop is called, and then returns "".
func (s *Service) Exception(ctx context.Context, ref svc.Ref, id string, since time.Time) string {
	return s.sources.apply(ref, s.exception(ctx, ref, id, since))
}

// ExceptionInSource is Exception, with the lines of the source where it was thrown. They are for the author of
// the worker alone.
func (s *Service) ExceptionInSource(ctx context.Context, ref svc.Ref, id string, since time.Time) string {
	text, at := s.sources.applyTo(ref, s.exception(ctx, ref, id, since))
	if lines := sourcemap.Frame(at); lines != "" {
		text += "\n\n" + lines
	}
	return text
}

// exception is the exception as the worker's log has it.
func (s *Service) exception(ctx context.Context, ref svc.Ref, id string, since time.Time) string {
	after, err := ring.Since(s.dir(ref), svc.LogsOfWorker, since.Add(-coarseTime))
	if err != nil {
		return ""
	}
	r := ring.NewReader(s.dir(ref), svc.LogsOfWorker, after)
	defer r.Close()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		text, err := exceptionOf(r, id)
		if err != nil || text != "" {
			return text
		}
		select {
		case <-ctx.Done():
			return ""
		case <-s.closed:
			return ""
		case <-tick.C:
		}
	}
}

// InSources returns a text about a version, such as the error of its deploy, with places of the sources in
// place of those of the bundle.
func (s *Service) InSources(ref svc.Ref, text string) string { return s.sources.places(ref, text) }

// exceptionOf reads r to its end, or to an exception of the request id.
func exceptionOf(r *ring.Reader, id string) (string, error) {
	for {
		_, data, ok, err := r.Next()
		if err != nil || !ok {
			return "", err
		}
		if !bytes.Contains(data, []byte(id)) {
			continue
		}
		if l, ok := svc.ParseLog(data); ok && l.Source == svc.LogException && l.RequestID == id {
			return l.Message, nil
		}
	}
}
