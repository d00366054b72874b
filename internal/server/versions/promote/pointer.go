package promote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	maxPointer   = 64 << 10 // bytes
	pointerTries = 3
	// pointerLimit bounds one attempt to change a pointer: when it hangs, the next one meets an
	// object store that is back.
	pointerLimit = 4 * time.Second
	// pointerPause is the time between two attempts.
	pointerPause = 250 * time.Millisecond
)

// pointer is {project}/production.json in the runtime bucket. It names the
// production version for readers of the bucket that have no registry.
type pointer struct {
	VersionID   string    `json:"version_id"`
	OperationID string    `json:"operation_id"` // "" for the assignment of the first version
	At          time.Time `json:"at"`
	Previous    *pointer  `json:"previous,omitempty"` // the replaced pointer, for compensation
}

// pointerKey returns the key of the pointer object. A version id has no dot [D1], so
// the key is never below a version's prefix.
func pointerKey(project string) string { return project + "/production.json" }

// pointers reads and writes pointer objects, by compare-and-set on their ETag.
type pointers struct{ bucket objstore.Bucket }

// set points to the version of op and stores the replaced pointer. Idempotent.
func (p pointers) set(ctx context.Context, op svc.Promotion) error {
	return p.swap(ctx, op.Project, func(now *pointer) (*pointer, bool) {
		if now != nil && now.VersionID == op.Version && now.OperationID == op.ID {
			return nil, false
		}
		return &pointer{VersionID: op.Version, OperationID: op.ID, At: stamp(), Previous: now.bare()}, true
	})
}

// restore puts back the pointer that op replaced, if any.
func (p pointers) restore(ctx context.Context, op svc.Promotion) error {
	return p.swap(ctx, op.Project, func(now *pointer) (*pointer, bool) {
		if now == nil || now.OperationID != op.ID {
			return nil, false
		}
		return now.Previous, true
	})
}

// assign points to the first version of a project.
func (p pointers) assign(ctx context.Context, ref svc.Ref) error {
	return p.swap(ctx, ref.Project, func(now *pointer) (*pointer, bool) {
		if now != nil && now.VersionID == ref.Version {
			return nil, false
		}
		return &pointer{VersionID: ref.Version, At: stamp(), Previous: now.bare()}, true
	})
}

func stamp() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// bare returns p without Previous.
func (p *pointer) bare() *pointer {
	if p == nil {
		return nil
	}
	return &pointer{VersionID: p.VersionID, OperationID: p.OperationID, At: p.At}
}

// swap replaces the pointer with the result of change; nil deletes it. If the
// object is modified concurrently, swap reads it again and retries. It fails when the object store
// does not answer within pointerLimit.
func (p pointers) swap(ctx context.Context, project string, change func(*pointer) (next *pointer, changed bool)) error {
	ctx, cancel := context.WithTimeout(ctx, pointerLimit)
	defer cancel()
	for range pointerTries {
		now, etag, err := p.read(ctx, project)
		if err != nil {
			return unavailable(err)
		}
		next, changed := change(now)
		if !changed {
			return nil
		}
		err = p.write(ctx, project, next, etag)
		if !errors.Is(err, objstore.ErrPrecondition) {
			return unavailable(err)
		}
	}
	return svc.Errorf(svc.Conflict, svc.CodePointerMoved, "%s was modified concurrently", pointerKey(project)).
		WithHint("let only one service use a runtime bucket")
}

// untilWritten calls write until the object store answers, for PointerLimit.
func (s *Service) untilWritten(ctx context.Context, log *slog.Logger, write func() error) error {
	for began := time.Now(); ; {
		err := write()
		if !errors.Is(err, svc.Unavailable) || time.Since(began)+pointerPause >= s.deps.PointerLimit {
			return err
		}
		log.WarnContext(ctx, "writing the production pointer failed; retrying", "error", err, "retry_in", pointerPause)
		if backoff.Sleep(ctx, pointerPause) != nil {
			return err
		}
	}
}

func unavailable(err error) error {
	if err == nil {
		return nil
	}
	return svc.Errorf(svc.Unavailable, svc.CodePointerUnavailable, "the runtime bucket did not accept the production pointer").
		WithHint("read the daemon's log and GET /v1/health/deep, then promote again").Because(err)
}

// read returns the pointer and its ETag: nil and "" without an object, nil for an
// object that is not a pointer.
func (p pointers) read(ctx context.Context, project string) (now *pointer, etag string, err error) {
	body, info, err := p.bucket.Get(ctx, pointerKey(project), 0, -1)
	if errors.Is(err, objstore.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	defer body.Close()
	data, err := io.ReadAll(io.LimitReader(body, maxPointer))
	if err == nil && int64(len(data)) < min(info.Size, maxPointer) {
		err = objstore.ErrTorn // not an object that is no pointer
	}
	if err != nil {
		return nil, "", fmt.Errorf("reading %s: %w", pointerKey(project), err)
	}
	if err := json.Unmarshal(data, &now); err != nil {
		now = nil
	}
	return now, info.ETag, nil
}

func (p pointers) write(ctx context.Context, project string, next *pointer, etag string) error {
	if next == nil {
		return p.bucket.Delete(ctx, pointerKey(project))
	}
	data, err := json.Marshal(next)
	if err != nil {
		return fmt.Errorf("writing %s: %w", pointerKey(project), err)
	}
	cond := objstore.Condition{IfMatch: etag, IfAbsent: etag == ""}
	_, err = p.bucket.Put(ctx, pointerKey(project), bytes.NewReader(data), int64(len(data)), cond)
	return err
}
