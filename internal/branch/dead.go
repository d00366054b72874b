package branch

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// deadList is a gc/dead object.
type deadList struct {
	V    int      `json:"v"`
	Keys []string `json:"keys"`
}

// Bury notes that keys of v are superseded. They are deleted after the grace,
// by Sweep, unless something turns out to need them. Only keys below v's own
// prefix are taken. Burying a key twice is harmless.
func (s *Store) Bury(ctx context.Context, v svc.Ref, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	for _, key := range keys {
		if !strings.HasPrefix(key, v.String()+"/db/") {
			return fmt.Errorf("bury: %s is not a log file of %s", key, v)
		}
	}
	data, err := json.Marshal(deadList{manifestVersion, keys})
	if err != nil {
		return fmt.Errorf("encode dead list of %s: %w", v, err)
	}
	for at := time.Now().UnixNano(); ; at++ { // the next name, should two lists meet
		key := fmt.Sprintf("%s%016x.json", deadPrefix(v), at)
		_, err := objstore.SettleBytes(ctx, s.data, key, data, objstore.Condition{IfAbsent: true})
		if !isTaken(err) {
			return err
		}
	}
}

// readDead gives the keys of a dead list and since when they are dead: the
// later of what its name and the store say, so that no clock alone shortens
// the grace.
func (s *Store) readDead(ctx context.Context, info objstore.Info) (keys []string, since time.Time, err error) {
	name := info.Key[strings.LastIndexByte(info.Key, '/')+1:]
	nanos, err := strconv.ParseInt(strings.TrimSuffix(name, ".json"), 16, 64)
	if err != nil {
		return nil, since, fmt.Errorf("dead list %s: %w", info.Key, err)
	}
	data, _, err := objstore.Read(ctx, s.data, info.Key, 0, -1)
	if err != nil {
		return nil, since, fmt.Errorf("read dead list: %w", err)
	}
	var list deadList
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, since, fmt.Errorf("dead list %s: %w", info.Key, err)
	}
	since = time.Unix(0, nanos)
	if info.Modified.After(since) {
		since = info.Modified
	}
	return list.Keys, since, nil
}
