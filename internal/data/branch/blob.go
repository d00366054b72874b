package branch

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/svcctl/svcctl/internal/svc"
)

// Blob names one immutable body that rows of a version's database refer to. The
// version is the one that stored it; its descendants refer to it as well.
type Blob struct {
	Version svc.Ref
	Since   uint64    // no transaction before this one names it
	ID      uuid.UUID // of version 7: it begins with the time
}

// NewBlob names a blob that no transaction before since will name.
func NewBlob(v svc.Ref, since uint64) Blob {
	b := Blob{Version: v, Since: since, ID: uuid.New()} // not NewV7, whose time is never before that of its last call
	var now [8]byte
	binary.BigEndian.PutUint64(now[:], uint64(time.Now().UnixMilli())<<16)
	copy(b.ID[:6], now[:])
	b.ID[6] = b.ID[6]&0x0f | 0x70
	return b
}

// Made is when the name was made, by the clock of its maker.
func (b Blob) Made() time.Time {
	return time.UnixMilli(int64(binary.BigEndian.Uint64(b.ID[:8]) >> 16))
}

// Key is the name of the blob's object.
func (b Blob) Key() string { return fmt.Sprintf("%s%016x-%s", BlobPrefix(b.Version), b.Since, b.ID) }

// BlobPrefix is where the blobs of a version lie.
func BlobPrefix(v svc.Ref) string { return v.String() + "/blobs/" }

// ParseBlob reads a key that Key made; ok is false for others.
func ParseBlob(key string) (b Blob, ok bool) {
	v, rest, _ := splitKey(key)
	since, text, _ := strings.Cut(strings.TrimPrefix(rest, "blobs/"), "-")
	number, err := strconv.ParseUint(since, 16, 64)
	id, idErr := uuid.Parse(text)
	if err != nil || idErr != nil {
		return Blob{}, false
	}
	b = Blob{Version: v, Since: number, ID: id}
	return b, b.Key() == key
}
