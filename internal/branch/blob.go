package branch

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Blob names one immutable body that rows of a version's store refer to. The
// version is the one that stored it; its descendants refer to it as well.
type Blob struct {
	Version svc.Ref
	Since   uint64   // no transaction before this one names it
	ID      [16]byte // a UUID of version 7: it begins with the time
}

// NewBlob names a blob that no transaction before since will name.
func NewBlob(v svc.Ref, since uint64) Blob {
	b := Blob{Version: v, Since: since}
	_, _ = rand.Read(b.ID[:]) // it never fails
	var now [8]byte
	binary.BigEndian.PutUint64(now[:], uint64(time.Now().UnixMilli()))
	copy(b.ID[:6], now[2:])
	b.ID[6] = b.ID[6]&0x0f | 0x70
	b.ID[8] = b.ID[8]&0x3f | 0x80
	return b
}

// Made is when the name was made, by the clock of whoever made it.
func (b Blob) Made() time.Time {
	var at [8]byte
	copy(at[2:], b.ID[:6])
	return time.UnixMilli(int64(binary.BigEndian.Uint64(at[:]))) //nolint:gosec // 48 bits
}

// Key is the name of the blob's object.
func (b Blob) Key() string {
	id := hex.EncodeToString(b.ID[:])
	return fmt.Sprintf("%s%016x-%s-%s-%s-%s-%s", BlobPrefix(b.Version), b.Since, id[:8], id[8:12], id[12:16], id[16:20], id[20:])
}

// BlobPrefix is where the blobs of a version lie.
func BlobPrefix(v svc.Ref) string { return v.String() + "/blobs/" }

// ParseBlob reads a key that Key made; ok is false for others.
func ParseBlob(key string) (b Blob, ok bool) {
	v, rest, _ := splitKey(key)
	since, id, _ := strings.Cut(strings.TrimPrefix(rest, "blobs/"), "-")
	number, err := strconv.ParseUint(since, 16, 64)
	bytes, idErr := hex.DecodeString(strings.ReplaceAll(id, "-", ""))
	if err != nil || idErr != nil || len(bytes) != len(b.ID) {
		return Blob{}, false
	}
	b = Blob{Version: v, Since: number, ID: [16]byte(bytes)}
	return b, b.Key() == key
}
