package s3server_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/svcctl/svcctl/internal/data/objstore"
)

// BenchmarkStore times single requests of one client over the socket: the creation of
// a segment at the depth of a version's, and a range of it.
func BenchmarkStore(b *testing.B) {
	s := start(b)
	bucket := bucket(b, open(b, "unix:"+socketOf(s), s.Keys()), "bench")
	body := make([]byte, 4096)
	key := func(n int) string { return fmt.Sprintf("shop/v1/db/main/ltx/0000/%016x-%016x.ltx", n, n) }
	created := 0
	create := func() {
		created++
		if _, err := bucket.Put(b.Context(), key(created), bytes.NewReader(body), int64(len(body)), objstore.Condition{IfAbsent: true}); err != nil {
			b.Fatal(err)
		}
	}
	create()
	b.Run("put", func(b *testing.B) {
		for b.Loop() {
			create()
		}
	})
	b.Run("get", func(b *testing.B) {
		for b.Loop() {
			readRange(b, bucket, key(1))
		}
	})
}

func readRange(b *testing.B, bucket objstore.Bucket, key string) {
	b.Helper()
	r, _, err := bucket.Get(context.Background(), key, 100, 1000)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, r); err != nil {
		b.Fatal(err)
	}
	_ = r.Close()
}
