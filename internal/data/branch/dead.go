package branch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// wireDead is a gc/dead object.
type wireDead struct {
	V    int      `json:"v"`
	Keys []string `json:"keys"`
}

// deadList is a decoded gc/dead object.
type deadList struct {
	key   string
	since time.Time
	names []id
}

// maxDeadKeys is the maximum number of keys in one dead list.
const maxDeadKeys = 10_000

// MarkDead records log files of v, by key, as superseded or unwanted. Sweep deletes
// them after the grace, unless another version needs them. It rejects keys that
// are not log files of v itself. Idempotent.
func (s *Store) MarkDead(ctx context.Context, v svc.Ref, keys []string) error {
	for _, key := range keys {
		if !strings.HasPrefix(key, v.String()+"/db/") {
			return fmt.Errorf("mark dead %s: not a log file of %s", key, v)
		}
	}
	for some := range slices.Chunk(keys, maxDeadKeys) {
		if err := s.putDead(ctx, v, some); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) putDead(ctx context.Context, v svc.Ref, keys []string) error {
	data, err := json.Marshal(wireDead{manifestVersion, keys})
	if err != nil {
		return fmt.Errorf("encode dead list of %s: %w", v, err)
	}
	return s.createTimed(ctx, deadPrefix(v), data)
}

// createTimed creates an object named by the current time.
func (s *Store) createTimed(ctx context.Context, prefix string, data []byte) error {
	for at := time.Now().UnixNano(); ; at++ { // the next name if this one exists
		_, err := objstore.SettleBytes(ctx, s.data, fmt.Sprintf("%s%016x.json", prefix, at), data, objstore.Condition{IfAbsent: true})
		if !isTaken(err) {
			return err
		}
	}
}

// timeOf is the time in the name of an object of createTimed.
func timeOf(key string) (time.Time, error) {
	name := key[strings.LastIndexByte(key, '/')+1:]
	nanos, err := strconv.ParseInt(strings.TrimSuffix(name, ".json"), 16, 64)
	return time.Unix(0, nanos), err
}

// readDead returns the files of a dead list and since when they are dead: the
// later of the time in its name and its modification time, so that one wrong clock
// cannot shorten the grace.
func (s *Store) readDead(ctx context.Context, info objstore.Info) (deadList, error) {
	at, err := timeOf(info.Key)
	if err != nil {
		return deadList{}, fmt.Errorf("read dead list %s: %w", info.Key, err)
	}
	data, _, err := objstore.Read(ctx, s.data, info.Key, 0, -1)
	if err != nil {
		return deadList{}, fmt.Errorf("read dead list %s: %w", info.Key, err)
	}
	var wire wireDead
	if err := json.Unmarshal(data, &wire); err != nil {
		return deadList{}, fmt.Errorf("read dead list %s: %w", info.Key, err)
	}
	list := deadList{key: info.Key, since: later(at, info.Modified)}
	for _, key := range wire.Keys {
		f, ok := ParseKey(key)
		if !ok {
			continue // not a log file: sweeps do not delete it
		}
		if n := len(list.names); n > 0 && list.names[n-1].prefix == f.Prefix {
			f.Prefix = list.names[n-1].prefix // the key need not stay in memory
		} else {
			f.Prefix = strings.Clone(f.Prefix)
		}
		list.names = append(list.names, f.id())
	}
	return list, nil
}

func isTaken(err error) bool { return errors.Is(err, objstore.ErrPrecondition) }
