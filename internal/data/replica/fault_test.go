package replica_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/superfly/ltx"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/objstore/objstoretest"
	"github.com/svcctl/svcctl/internal/data/replica"
)

// TestFaults: with an object store that fails in every way, every acknowledged
// transaction exists, for the log that wrote it and for a newly opened one.
func TestFaults(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { faults(t, seed) })
		})
	}
}

func faults(t *testing.T, seed uint64) {
	t.Helper()
	mem := new(memstore.Bucket)
	b := objstoretest.NewFaulty(mem, objstoretest.Faults{Before: .05, After: .05, Conflict: .05, Torn: .05, Stale: .3}, seed)
	m := newModel(seed)
	l := reopen(t, b)
	for range 600 {
		data := m.tx(t)
		appendUntilKnown(t, l, m.txid, data)
		switch m.rng.IntN(25) {
		case 0:
			if _, err := l.Compact(t.Context(), replica.Policy{Files: 2 + m.rng.IntN(8)}); err != nil && !errors.Is(err, objstoretest.ErrInjected) && !errors.Is(err, objstore.ErrTorn) {
				t.Fatal(err)
			}
		case 1:
			if l = reopen(t, b); l.Position() != m.txid {
				t.Fatalf("opened at %d, acknowledged up to %d", l.Position(), m.txid)
			}
		}
	}
	for _, txid := range []replica.TXID{m.txid, m.txid - 1} {
		if _, err := l.Plan(txid); err == nil {
			sameDespite(t, l, m, txid)
		}
	}
	b.Off.Store(true)
	same(t, reopen(t, b), m, m.txid)
	t.Logf("%d faults in %d requests", b.Injected.Load(), b.Puts.Load()+b.Gets.Load()+b.Lists.Load())
}

// appendUntilKnown appends with a short deadline, so that some attempts end unsettled.
func appendUntilKnown(t *testing.T, l *replica.Log, txid replica.TXID, data []byte) {
	t.Helper()
	for {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.IntN(30)+1)*time.Millisecond)
		err := l.Append(ctx, txid, data)
		cancel()
		if err == nil {
			return
		}
		if errors.Is(err, replica.ErrFenced) || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("append %d: %v", txid, err)
		}
	}
}

// reopen retries Open until it succeeds. A stale listing must be an error or have no
// effect.
func reopen(t *testing.T, b objstore.Bucket) *replica.Log {
	t.Helper()
	for {
		l, err := replica.Open(t.Context(), replica.Config{Bucket: b, Prefix: "p/v/db/main", TempDir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
		if err == nil {
			return l
		}
		if !errors.Is(err, objstoretest.ErrInjected) {
			t.Fatal(err)
		}
	}
}

// sameDespite restores until the faults allow it.
func sameDespite(t *testing.T, l *replica.Log, m *model, txid replica.TXID) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "db")
	for {
		err := l.Restore(t.Context(), txid, path)
		if err == nil {
			sameFile(t, path, m, txid)
			return
		}
		if !errors.Is(err, objstoretest.ErrInjected) && !errors.Is(err, objstore.ErrTorn) {
			t.Fatal(err)
		}
	}
}

// TestUnsettledAppend: an append with an unknown outcome blocks every other one.
func TestUnsettledAppend(t *testing.T) {
	t.Parallel()
	mem := new(memstore.Bucket)
	b := objstoretest.NewFaulty(mem, objstoretest.Faults{After: 1}, 1)
	l, m := open(t, b, "v", nil), newModel(1)
	first := m.tx(t)
	// The first attempt has effect but returns an error; the second finds its own bytes.
	must(t, l.Append(t.Context(), 1, first))
	b.Faults = objstoretest.Faults{Hang: 1}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	second, other := m.tx(t), m.fork(1, 9).tx(t)
	if err := l.Append(ctx, 2, second); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	b.Off.Store(true)
	if err := l.Append(t.Context(), 2, other); !errors.Is(err, replica.ErrUnsettled) {
		t.Errorf("other bytes for an unsettled slot: %v", err)
	}
	must(t, l.Append(t.Context(), 2, second))
	same(t, l, m, 2)
}

// TestTwoOwners: two owners write to one log concurrently. Each slot has one winner, the
// other owner is fenced for good, and no acknowledged write is lost.
func TestTwoOwners(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		synctest.Test(t, func(t *testing.T) { twoOwners(t, seed) })
	}
}

func twoOwners(t *testing.T, seed uint64) {
	t.Helper()
	b := objstoretest.NewFaulty(new(memstore.Bucket), objstoretest.Faults{Before: .05, After: .05, Conflict: .1}, seed)
	var mu sync.Mutex
	acked := map[replica.TXID]byte{}
	fenced := 0
	var wg sync.WaitGroup
	for writer := range byte(2) {
		wg.Go(func() {
			for range 8 { // a fenced owner opens the log again as a new one
				l := reopen(t, b)
				for range 12 {
					txid := l.Position() + 1
					err := l.Append(t.Context(), txid, onePage(t, txid, writer))
					if errors.Is(err, replica.ErrFenced) {
						if again := l.Append(t.Context(), txid+1, onePage(t, txid+1, writer)); !errors.Is(again, replica.ErrFenced) {
							t.Errorf("a fenced log accepted %d: %v", txid+1, again)
						}
						if _, err := l.Compact(t.Context(), replica.Policy{Files: 2}); !errors.Is(err, replica.ErrFenced) {
							t.Errorf("a fenced log was compacted: %v", err)
						}
						mu.Lock()
						fenced++
						mu.Unlock()
						break
					}
					if err != nil {
						t.Errorf("append: %v", err)
						return
					}
					mu.Lock()
					if before, taken := acked[txid]; taken {
						t.Errorf("slot %d was acknowledged to %d and %d", txid, before, writer)
					}
					acked[txid] = writer
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	b.Off.Store(true)
	l := reopen(t, b)
	lost := 0
	for txid, writer := range acked {
		plan, err := l.Plan(txid)
		must(t, err)
		src, err := l.Source(t.Context(), plan[len(plan)-1:], nil) // the database has one page, and each transaction has it
		must(t, err)
		page := make([]byte, pageSize)
		must(t, src.ReadPages(t.Context(), 1, page))
		if page[0] != writer+1 || page[1] != byte(txid) {
			lost++
		}
	}
	if lost > 0 || fenced == 0 || int(l.Position()) != len(acked) {
		t.Errorf("round %d: %d of %d acknowledged writes lost, %d fenced, position %d", seed, lost, len(acked), fenced, l.Position())
	}
}

func onePage(t *testing.T, txid replica.TXID, writer byte) []byte {
	t.Helper()
	page := make([]byte, pageSize)
	page[0], page[1] = writer+1, byte(txid)
	return encode(t, txid, [][]byte{page}, map[int]bool{0: true})
}

// TestDamage: each kind of damage to an object is detected and reported, except bits that
// the decompression ignores, after which the restored database is correct.
func TestDamage(t *testing.T) {
	t.Parallel()
	for _, size := range []int{8, 3000} { // pages: a file read whole, and one read in parts
		var damaged, found int
		pristine, key, intact := noisy(t, size)
		for i := range 60 {
			data := damage(pristine, i)
			mem := new(memstore.Bucket)
			put(t, mem, key, pristine)
			l := open(t, mem, "v", nil)
			must(t, mem.Delete(t.Context(), key))
			put(t, mem, key, data)
			damaged++
			path := filepath.Join(t.TempDir(), "db")
			err := l.Restore(t.Context(), 1, path)
			var c *replica.CorruptError
			switch {
			case errors.As(err, &c) && c.Key == key:
				found++
			case err == nil && bytes.Equal(readFile(t, path), intact):
				damaged--
			default:
				t.Logf("case %d: %v", i, err)
			}
		}
		if found != damaged {
			t.Errorf("%d pages: found %d of %d damages", size, found, damaged)
		}
	}
}

// TestHeaderOfMillionsOfPages: nothing is allocated for the pages that a corrupt header claims. The
// header of a file that is read in parts has no checksum of its own.
func TestHeaderOfMillionsOfPages(t *testing.T) {
	t.Parallel()
	data, key, _ := noisy(t, 3000)
	binary.BigEndian.PutUint32(data[12:], 1<<32-1) // the size of the database
	mem := new(memstore.Bucket)
	put(t, mem, key, data)
	err := open(t, mem, "v", nil).Restore(t.Context(), 1, filepath.Join(t.TempDir(), "db"))
	var c *replica.CorruptError
	if !errors.As(err, &c) || c.Key != key || !strings.Contains(err.Error(), "claims a database of 4294967295 pages") {
		t.Error(err)
	}
}

// TestMergeOfAHugeFrame: nor does a merge allocate what a corrupt frame claims to have.
func TestMergeOfAHugeFrame(t *testing.T) {
	t.Parallel()
	mem, m := new(memstore.Bucket), newModel(6)
	l := open(t, mem, "v", nil)
	appendN(t, l, m, 4)
	key := branch.File{Prefix: "p/v/db/main", Min: 2, Max: 2}.Key()
	data, _, err := objstore.Read(t.Context(), mem, key, 0, -1)
	must(t, err)
	must(t, mem.Delete(t.Context(), key))
	binary.BigEndian.PutUint32(data[ltx.HeaderSize+ltx.PageHeaderSize:], 1<<32-1)
	put(t, mem, key, data)
	var c *replica.CorruptError
	_, err = l.Compact(t.Context(), replica.Policy{Files: 4})
	if !errors.As(err, &c) || c.Key != key || !strings.Contains(err.Error(), "claims to have 4294967295 bytes") {
		t.Error(err)
	}
}

// damage does one of three things to a copy of data.
func damage(data []byte, i int) []byte {
	data = slices.Clone(data)
	switch i % 3 {
	case 0:
		data[rand.IntN(len(data))] ^= 1 << rand.IntN(8)
	case 1:
		data = data[:len(data)-1-rand.IntN(len(data)/2)]
	case 2:
		data = append(data, data[:1+rand.IntN(100)]...)
	}
	return data
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return data
}

// noisy is a first transaction of this number of pages, its key, and the database.
func noisy(t testing.TB, pages int) (data []byte, key string, db []byte) {
	t.Helper()
	m := newModel(1)
	all := map[int]bool{}
	for i := range pages {
		page := make([]byte, pageSize)
		for j := range page {
			page[j] = byte(m.rng.Uint32())
		}
		m.pages, all[i] = append(m.pages, page), true
	}
	f := branch.File{Prefix: "p/v/db/main", Min: 1, Max: 1}
	return encode(t, ltx.TXID(1), m.pages, all), f.Key(), bytes.Join(m.pages, nil)
}

func put(t testing.TB, b objstore.Bucket, key string, data []byte) {
	t.Helper()
	_, err := objstore.SettleBytes(t.Context(), b, key, data, objstore.Condition{IfAbsent: true})
	must(t, err)
}

// TestStaleListing: an object that a listing lacks, in the middle or at the end, is found
// by its name; a missing object is an error that names it.
func TestStaleListing(t *testing.T) {
	t.Parallel()
	mem, m := new(memstore.Bucket), newModel(2)
	appendN(t, open(t, mem, "v", nil), m, 6)
	for _, hidden := range [][]uint64{{6}, {5, 6}, {2}, {1, 3, 6}} {
		l := open(t, hiding{mem, hidden}, "v", nil)
		if l.Position() != 6 {
			t.Errorf("without %v in the listing: position %d", hidden, l.Position())
		}
		same(t, l, m, 6)
	}
	listing, err := hiding{mem, []uint64{5, 6}}.List(t.Context(), "", "", 100)
	must(t, err)
	c := replica.Config{Bucket: mem, Prefix: "p/v/db/main", Listing: listing, End: 6, Logger: slog.New(slog.DiscardHandler)}
	if l, err := replica.Open(t.Context(), c); err != nil || l.Position() != 6 {
		t.Errorf("a listing of the caller: %v", err)
	}
	gone := branch.File{Prefix: "p/v/db/main", Min: 3, Max: 3}.Key()
	must(t, mem.Delete(t.Context(), gone))
	_, err = replica.Open(t.Context(), replica.Config{Bucket: mem, Prefix: "p/v/db/main", Logger: slog.New(slog.DiscardHandler)})
	var damaged *replica.CorruptError
	if !errors.As(err, &damaged) || damaged.Key != gone || !errors.Is(err, replica.ErrNotRestorable) {
		t.Errorf("with a hole: %v", err)
	}
}

// hiding omits single transactions from listings.
type hiding struct {
	objstore.Bucket
	txids []uint64
}

func (h hiding) List(ctx context.Context, prefix, after string, limit int) ([]objstore.Info, error) {
	page, err := h.Bucket.List(ctx, prefix, after, limit)
	var shown []objstore.Info
	for _, info := range page {
		f, _ := branch.ParseKey(info.Key)
		hide := false
		for _, txid := range h.txids {
			hide = hide || f.Min == txid
		}
		if !hide {
			shown = append(shown, info)
		}
	}
	return shown, err
}
