package route

import (
	"maps"

	"github.com/svcctl/svcctl/internal/svc"
)

const shardCount = 256

// shards is a map in parts, each of which never changes: a change replaces one of them. A
// copy of the array shares the other parts, so that a change among thousands of entries
// does not copy them all.
type shards[K comparable, V any] [shardCount]map[K]V

func (s *shards[K, V]) set(shard uint8, k K, v V) {
	part := maps.Clone(s[shard])
	if part == nil {
		part = map[K]V{}
	}
	part[k] = v
	s[shard] = part
}

func (s *shards[K, V]) remove(shard uint8, k K) {
	part := maps.Clone(s[shard])
	delete(part, k)
	s[shard] = part
}

// all yields each entry.
func (s *shards[K, V]) all(yield func(K, V) bool) {
	for _, part := range s {
		for k, v := range part {
			if !yield(k, v) {
				return
			}
		}
	}
}

// The constants of the hash FNV-1a.
const (
	fnvOffset = 2166136261
	fnvPrime  = 16777619
)

func fnv[T string | []byte](h uint32, name T) uint32 {
	for i := range len(name) {
		h = (h ^ uint32(name[i])) * fnvPrime
	}
	return h
}

// fold returns the shard of a hash.
func fold(h uint32) uint8 { return uint8(h ^ h>>8 ^ h>>16 ^ h>>24) } //nolint:gosec // the low bits are meant

func shardOfName[T string | []byte](name T) uint8 { return fold(fnv(fnvOffset, name)) }

func shardOf(ref svc.Ref) uint8 { return fold(fnv(fnv(fnvOffset, ref.Project)*fnvPrime, ref.Version)) }
