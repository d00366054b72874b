package backup

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	// maxSegments is the number of objects after which a chain ends, so that a restore
	// reads few.
	maxSegments = 500
	// keptChains is the number of complete chains before the newest one that stay.
	keptChains = 1
)

// Log appends copies of one registry. It is not safe for concurrent use.
type Log struct {
	bucket objstore.Bucket
	node   string
	sealer sealer

	chain string // "" begins one
	last  int64  // milliseconds in the name of the newest chain
	next  int
	image int64 // bytes of the full copy
	since int64 // bytes after it
	sums  [][sha256.Size]byte
	files map[string][]byte

	writer string // of an exclusive log; "" for one that others do not write
	head   string // writer of the last segment
}

// ErrTaken says that another process has continued an exclusive log.
var ErrTaken = errors.New("another server writes the copies of the registry")

// Exclusive makes l the log of one of several processes, known as writer. Its next Append stores a
// segment also without a change, which the process before meets as ErrTaken at its next one.
func (l *Log) Exclusive(writer string) { l.writer = writer }

// Open continues the newest chain of a node, or begins one if fresh. Errors: those of
// Read, but ErrNone.
func Open(ctx context.Context, b objstore.Bucket, node string, key svc.Secret, fresh bool) (*Log, error) {
	s, err := newSealer(key)
	if err != nil {
		return nil, err
	}
	l := &Log{bucket: b, node: node, sealer: s}
	list, err := chains(ctx, b, node)
	if err != nil {
		return nil, err
	}
	if len(list) > 0 {
		_, _ = fmt.Sscanf(list[len(list)-1].id, "%d-", &l.last) // 0 for a foreign name
	}
	if fresh {
		return l, nil
	}
	state, err := Read(ctx, b, node, key)
	if errors.Is(err, ErrNone) {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	l.follow(state)
	return l, nil
}

// follow continues the chain of a state.
func (l *Log) follow(state *State) {
	l.chain, l.next, l.sums, l.files, l.head = state.chain, state.next, state.sums, state.Files, state.writer
	l.image, l.since = state.sizes[0], 0
	for _, size := range state.sizes[1:] {
		l.since += size
	}
}

// TakeOver returns the newest state of a node's registry, after which only writer may append: the
// process before meets ErrTaken. check gets the version of the schema; after its error nothing is
// written. Errors: those of Read and of check.
func TakeOver(ctx context.Context, b objstore.Bucket, node string, key svc.Secret, writer string, check func(schema int) error) (*State, error) { //nolint:revive // a context, a log, and who writes it
	for {
		l, err := Open(ctx, b, node, key, true)
		if err != nil {
			return nil, err
		}
		state, err := Read(ctx, b, node, key)
		if err != nil {
			return nil, err
		}
		if err := check(state.Schema); err != nil {
			return nil, err
		}
		l.follow(state)
		l.Exclusive(writer)
		if _, err := l.Append(ctx, state.Database, state.Files, time.Now()); !errors.Is(err, ErrTaken) {
			return state, err
		}
	}
}

// Append stores the state of a registry, as the pages that changed since the state
// before, and small files beside it. It returns the number of bytes that it wrote, 0 if
// nothing changed. After an error the next Append begins a new chain.
func (l *Log) Append(ctx context.Context, database []byte, files map[string][]byte, at time.Time) (written int64, err error) {
	changed := files
	if maps.EqualFunc(files, l.files, bytes.Equal) {
		changed = nil
	}
	segment, sums, err := encode(database, l.sums, at, changed, l.writer)
	switch {
	case err != nil:
		return 0, err
	case l.chain != "" && changed == nil && slices.Equal(sums, l.sums) && l.head == l.writer:
		return 0, nil
	case l.chain == "" || l.next >= maxSegments || l.since > l.image:
		if err := l.isNewest(ctx); err != nil {
			return 0, err
		}
		l.begin(at)
		if segment, sums, err = encode(database, nil, at, files, l.writer); err != nil {
			return 0, err
		}
	}
	key := keyOf(l.node, l.chain, l.next)
	object, err := l.sealer.seal(key, segment)
	if err == nil {
		_, err = objstore.SettleBytes(ctx, l.bucket, key, object, objstore.Condition{IfAbsent: true})
	}
	if err != nil {
		l.chain = "" // the outcome may be unknown
		if l.writer != "" && errors.Is(err, objstore.ErrPrecondition) {
			err = errors.Join(ErrTaken, err)
		}
		return 0, fmt.Errorf("copy the registry: %w", err)
	}
	written, l.head = int64(len(object)), l.writer
	if l.next++; l.next == 1 {
		l.image, l.since = written, 0
		err = l.trim(ctx)
	} else {
		l.since += written
	}
	l.sums, l.files = sums, maps.Clone(files)
	return written, err
}

// isNewest checks, before an exclusive log begins another chain, that no other process has continued its own.
// Between the check and the new chain a server that takes over may do so: it has waited for the
// lease of this one to expire by then.
func (l *Log) isNewest(ctx context.Context) error {
	if l.writer == "" || l.chain == "" {
		return nil
	}
	list, err := chains(ctx, l.bucket, l.node)
	if err != nil {
		return err
	}
	if n := len(list); n == 0 || list[n-1].id != l.chain || len(list[n-1].sizes) != l.next {
		return ErrTaken
	}
	return nil
}

// begin begins a chain whose name sorts after those of earlier ones, also if the clock was
// set back.
func (l *Log) begin(at time.Time) {
	l.last = max(at.UnixMilli(), l.last+1)
	l.chain = fmt.Sprintf("%013d-%s", l.last, strings.ToLower(rand.Text()[:8]))
	l.next, l.sums, l.files = 0, nil, nil
}

// trim deletes the chains before the newest ones.
func (l *Log) trim(ctx context.Context) error {
	list, err := chains(ctx, l.bucket, l.node)
	if err != nil {
		return err
	}
	for _, c := range list[:max(len(list)-1-keptChains, 0)] {
		var keys []string
		err := objstore.Each(ctx, l.bucket, Root+l.node+"/"+c.id+"/", func(i objstore.Info) error {
			keys = append(keys, i.Key)
			return nil
		})
		if err == nil {
			err = l.bucket.Delete(ctx, keys...)
		}
		if err != nil {
			return fmt.Errorf("delete old copies of the registry: %w", err)
		}
	}
	return nil
}
