package objstoretest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/svcctl/svcctl/internal/data/objstore"
)

// Run checks that b keeps the contract of objstore.Bucket. b must be empty.
func Run(t *testing.T, b objstore.Bucket) {
	t.Helper()
	for name, check := range map[string]func(*testing.T, objstore.Bucket){
		"read back":                   readBack,
		"absent":                      absent,
		"create only":                 createOnly,
		"if match":                    ifMatch,
		"one winner":                  oneWinner,
		"list":                        list,
		"roots":                       roots,
		"delete":                      remove,
		"a short body is rejected":    shortBody,
		"streams without size":        stream,
		"last byte of a large object": ranges,
	} {
		t.Run(name, func(t *testing.T) { check(t, b) })
	}
}

func put(t *testing.T, b objstore.Bucket, key, body string, c objstore.Condition) (objstore.Info, error) {
	t.Helper()
	return b.Put(t.Context(), key, strings.NewReader(body), int64(len(body)), c)
}

func mustPut(t *testing.T, b objstore.Bucket, key, body string) objstore.Info {
	t.Helper()
	info, err := put(t, b, key, body, objstore.Condition{})
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func get(t *testing.T, b objstore.Bucket, key string, off, n int64) (string, objstore.Info) {
	t.Helper()
	r, info, err := b.Get(t.Context(), key, off, n)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data), info
}

func readBack(t *testing.T, b objstore.Bucket) {
	put := mustPut(t, b, "read/a b+c", "hello")
	got, info := get(t, b, "read/a b+c", 0, -1)
	if got != "hello" || info.Size != 5 || info.ETag == "" || info.ETag != put.ETag {
		t.Errorf("got %q, %+v, put returned %+v", got, info, put)
	}
	if got, _ := get(t, b, "read/a b+c", 1, 3); got != "ell" {
		t.Errorf("range 1+3 = %q", got)
	}
	if info, err := b.Stat(t.Context(), "read/a b+c"); err != nil || info.Size != 5 || info.ETag != put.ETag {
		t.Errorf("stat: %+v, %v", info, err)
	}
	mustPut(t, b, "read/empty", "")
	if got, info := get(t, b, "read/empty", 0, -1); got != "" || info.Size != 0 {
		t.Errorf("empty object: %q, %+v", got, info)
	}
}

func absent(t *testing.T, b objstore.Bucket) {
	if _, _, err := b.Get(t.Context(), "absent/x", 0, -1); !errors.Is(err, objstore.ErrNotExist) {
		t.Errorf("get: %v", err)
	}
	if _, err := b.Stat(t.Context(), "absent/x"); !errors.Is(err, objstore.ErrNotExist) {
		t.Errorf("stat: %v", err)
	}
}

func createOnly(t *testing.T, b objstore.Bucket) {
	c := objstore.Condition{IfAbsent: true}
	if _, err := put(t, b, "create/x", "1", c); err != nil {
		t.Fatal(err)
	}
	if _, err := put(t, b, "create/x", "2", c); !errors.Is(err, objstore.ErrPrecondition) {
		t.Errorf("second create: %v", err)
	}
	if got, _ := get(t, b, "create/x", 0, -1); got != "1" {
		t.Errorf("the rejected put changed the object to %q", got)
	}
}

func ifMatch(t *testing.T, b objstore.Bucket) {
	first := mustPut(t, b, "cas/x", "1")
	second, err := put(t, b, "cas/x", "2", objstore.Condition{IfMatch: first.ETag})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := put(t, b, "cas/x", "3", objstore.Condition{IfMatch: first.ETag}); !errors.Is(err, objstore.ErrPrecondition) {
		t.Errorf("stale etag: %v", err)
	}
	if _, err := put(t, b, "cas/none", "1", objstore.Condition{IfMatch: second.ETag}); err == nil {
		t.Error("if-match on an absent object succeeded")
	}
}

func oneWinner(t *testing.T, b objstore.Bucket) {
	const writers = 16
	var wg sync.WaitGroup
	won := make(chan int, writers)
	for i := range writers {
		wg.Go(func() {
			if _, err := b.Put(t.Context(), "race/x", strings.NewReader(fmt.Sprint(i)), -1, objstore.Condition{IfAbsent: true}); err == nil {
				won <- i
			}
		})
	}
	wg.Wait()
	close(won)
	if len(won) != 1 {
		t.Fatalf("%d writers created one key", len(won))
	}
	if got, _ := get(t, b, "race/x", 0, -1); got != fmt.Sprint(<-won) {
		t.Errorf("the object holds %q, not the winner's", got)
	}
}

func list(t *testing.T, b objstore.Bucket) {
	for i := range 7 {
		mustPut(t, b, fmt.Sprintf("list/%d", i), "x")
	}
	mustPut(t, b, "listing", "not below list/")
	var keys []string
	after := ""
	for {
		page, err := b.List(t.Context(), "list/", after, 3)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range page {
			keys = append(keys, o.Key)
		}
		if len(page) < 3 {
			break
		}
		after = page[len(page)-1].Key
	}
	if got := strings.Join(keys, " "); got != "list/0 list/1 list/2 list/3 list/4 list/5 list/6" {
		t.Errorf("listed %s", got)
	}
}

// roots: a listing begins after any text, which need not be a key.
func roots(t *testing.T, b objstore.Bucket) {
	for _, key := range []string{"root/b", "root/a/x", "root-1/a/b", "root0/x", "root-", "root/c"} {
		mustPut(t, b, key, "x")
	}
	all, err := objstore.Roots(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	got := slices.DeleteFunc(all, func(root string) bool { return !strings.HasPrefix(root, "root") })
	if want := []string{"root-1", "root", "root0"}; !slices.Equal(got, want) {
		t.Errorf("roots %q, want %q", got, want)
	}
}

func remove(t *testing.T, b objstore.Bucket) {
	mustPut(t, b, "del/a", "x")
	mustPut(t, b, "del/b", "x")
	if err := b.Delete(t.Context(), "del/a", "del/b", "del/never"); err != nil {
		t.Fatal(err)
	}
	if left, err := b.List(t.Context(), "del/", "", 10); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
	if err := b.Delete(t.Context()); err != nil {
		t.Errorf("delete without keys: %v", err)
	}
}

func shortBody(t *testing.T, b objstore.Bucket) {
	if _, err := b.Put(t.Context(), "short/x", strings.NewReader("abc"), 10, objstore.Condition{}); err == nil {
		t.Error("a body shorter than announced was stored")
	}
	if _, err := b.Stat(t.Context(), "short/x"); !errors.Is(err, objstore.ErrNotExist) {
		t.Errorf("a rejected put left an object: %v", err)
	}
}

func stream(t *testing.T, b objstore.Bucket) {
	data := bytes.Repeat([]byte("0123456789"), 100_000)
	r, w := io.Pipe()
	go func() {
		_, err := w.Write(data)
		w.CloseWithError(err)
	}()
	if _, err := b.Put(context.WithoutCancel(t.Context()), "stream/x", r, -1, objstore.Condition{}); err != nil {
		t.Fatal(err)
	}
	if got, _ := get(t, b, "stream/x", 0, -1); got != string(data) {
		t.Errorf("read %d bytes of %d", len(got), len(data))
	}
}

func ranges(t *testing.T, b objstore.Bucket) {
	mustPut(t, b, "range/x", strings.Repeat("a", 1<<20)+"z")
	if got, _ := get(t, b, "range/x", 1<<20, -1); got != "z" {
		t.Errorf("the tail is %q", got)
	}
	for _, off := range []int64{1 << 20, 2 << 20} {
		if _, _, err := objstore.Read(t.Context(), b, "range/x", off, 5); !errors.Is(err, objstore.ErrShort) {
			t.Errorf("five bytes from %d of one MiB and a byte: %v", off, err)
		}
	}
}
