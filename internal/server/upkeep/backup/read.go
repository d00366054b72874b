package backup

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// Root is the prefix of all copies in a bucket. No project has this name.
const Root = "_registry/"

// ErrNone says that a bucket has no copy.
var ErrNone = errors.New("the object store has no copy of this registry")

// State is a registry as it was copied.
type State struct {
	Node     string
	At       time.Time         // of the copy
	Schema   int               // version of the database's schema
	Database []byte            // a SQLite file
	Files    map[string][]byte // small files of the data directory, by name

	chain string
	next  int // number of the next segment
	sizes []int64
	sums  [][sha256.Size]byte

	writer string // of the last segment
}

// Nodes returns the nodes that have copies in a bucket, sorted.
func Nodes(ctx context.Context, b objstore.Bucket) ([]string, error) {
	var nodes []string
	err := objstore.Each(ctx, b, Root, func(i objstore.Info) error {
		node, _, _ := strings.Cut(strings.TrimPrefix(i.Key, Root), "/")
		nodes = append(nodes, node)
		return nil
	})
	return slices.Compact(nodes), err
}

// chain is a full copy and the changes after it, as listed.
type chain struct {
	id    string
	sizes []int64 // of the objects, without a gap
}

func keyOf(node, chain string, number int) string {
	return fmt.Sprintf("%s%s/%s/%08d", Root, node, chain, number)
}

// chains lists the complete part of each chain, the oldest first.
func chains(ctx context.Context, b objstore.Bucket, node string) ([]chain, error) {
	var list []chain
	prefix := Root + node + "/"
	err := objstore.Each(ctx, b, prefix, func(i objstore.Info) error {
		id, text, _ := strings.Cut(strings.TrimPrefix(i.Key, prefix), "/")
		number, err := strconv.Atoi(text)
		if err != nil {
			return nil //nolint:nilerr // another program's object
		}
		if last := len(list) - 1; last < 0 || list[last].id != id {
			list = append(list, chain{id: id})
		}
		c := &list[len(list)-1]
		if number == len(c.sizes) {
			c.sizes = append(c.sizes, i.Size)
		}
		return nil
	})
	list = slices.DeleteFunc(list, func(c chain) bool { return len(c.sizes) == 0 })
	slices.SortStableFunc(list, func(a, b chain) int { return cmp.Compare(a.id, b.id) })
	return list, err
}

// Read returns the newest copy of a node's registry, ErrNone if it has none. Errors:
// recovery_key_wrong, format_newer; others name the object.
func Read(ctx context.Context, b objstore.Bucket, node string, key svc.Secret) (*State, error) {
	s, err := newSealer(key)
	if err != nil {
		return nil, err
	}
	list, err := chains(ctx, b, node)
	switch {
	case err != nil:
		return nil, err
	case len(list) == 0:
		return nil, ErrNone
	}
	newest := list[len(list)-1]
	state := &State{Node: node, chain: newest.id, sizes: newest.sizes}
	for number := range newest.sizes {
		if err := state.add(ctx, b, s, number); err != nil {
			return nil, err
		}
	}
	_, state.sums, err = encode(state.Database, nil, state.At, nil, "")
	return state, err
}

func (st *State) add(ctx context.Context, b objstore.Bucket, s sealer, number int) error {
	key := keyOf(st.Node, st.chain, number)
	object, _, err := objstore.Read(ctx, b, key, 0, -1)
	if err != nil {
		return err
	}
	segment, err := s.open(key, object)
	if err != nil {
		return err
	}
	database, h, err := apply(st.Database, segment)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	st.Database, st.At, st.Schema, st.next, st.writer = database, h.At, h.Schema, number+1, h.Writer
	if h.Files != nil {
		st.Files = h.Files
	}
	return nil
}
