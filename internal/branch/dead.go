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

	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// wireDead is a gc/dead object.
type wireDead struct {
	V    int      `json:"v"`
	Keys []string `json:"keys"`
}

// deadList is a gc/dead object as it was read.
type deadList struct {
	key   string
	since time.Time
	names []id
}

// mostDead is how many keys one dead list has at most.
const mostDead = 10_000

// Bury notes that keys of v are superseded. They are deleted after the grace,
// by Sweep, unless something turns out to need them. Only keys below v's own
// prefix are taken. Burying a key twice is harmless.
func (s *Store) Bury(ctx context.Context, v svc.Ref, keys []string) error {
	for _, key := range keys {
		if !strings.HasPrefix(key, v.String()+"/db/") {
			return fmt.Errorf("bury: %s is not a log file of %s", key, v)
		}
	}
	for some := range slices.Chunk(keys, mostDead) {
		if err := s.buryList(ctx, v, some); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) buryList(ctx context.Context, v svc.Ref, keys []string) error {
	data, err := json.Marshal(wireDead{manifestVersion, keys})
	if err != nil {
		return fmt.Errorf("encode dead list of %s: %w", v, err)
	}
	return s.createTimed(ctx, deadPrefix(v), data)
}

// createTimed makes an object that is named by the time.
func (s *Store) createTimed(ctx context.Context, prefix string, data []byte) error {
	for at := time.Now().UnixNano(); ; at++ { // the next name, should two meet
		_, err := objstore.SettleBytes(ctx, s.data, fmt.Sprintf("%s%016x.json", prefix, at), data, objstore.Condition{IfAbsent: true})
		if !isTaken(err) {
			return err
		}
	}
}

// timeOf is the time that createTimed named an object by.
func timeOf(key string) (time.Time, error) {
	name := key[strings.LastIndexByte(key, '/')+1:]
	nanos, err := strconv.ParseInt(strings.TrimSuffix(name, ".json"), 16, 64)
	return time.Unix(0, nanos), err
}

// readDead gives the files of a dead list and since when they are dead: the
// later of what its name and the store say, so that no clock alone shortens
// the grace.
func (s *Store) readDead(ctx context.Context, info objstore.Info) (deadList, error) {
	at, err := timeOf(info.Key)
	if err != nil {
		return deadList{}, fmt.Errorf("dead list %s: %w", info.Key, err)
	}
	data, _, err := objstore.Read(ctx, s.data, info.Key, 0, -1)
	if err != nil {
		return deadList{}, fmt.Errorf("read dead list: %w", err)
	}
	var wire wireDead
	if err := json.Unmarshal(data, &wire); err != nil {
		return deadList{}, fmt.Errorf("dead list %s: %w", info.Key, err)
	}
	list := deadList{key: info.Key, since: later(at, info.Modified)}
	for _, key := range wire.Keys {
		f, ok := ParseKey(key)
		if !ok {
			continue // no log file: nothing that a sweep deletes
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
