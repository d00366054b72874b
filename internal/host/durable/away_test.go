package durable

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// store is an object store that takes nothing while it is away.
type store struct {
	memstore.Bucket

	away atomic.Bool
}

func (s *store) Put(ctx context.Context, key string, body io.Reader, size int64, cond objstore.Condition) (objstore.Info, error) {
	if s.away.Load() {
		return objstore.Info{}, errors.New("the object store is away")
	}
	return s.Bucket.Put(ctx, key, body, size, cond)
}

// dataOn opens the data of a version in a directory of its own: what only an earlier one had is lost.
func dataOn(t *testing.T, s *store, window time.Duration) *dataplane.Volumes {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	branches, err := branch.New(branch.Config{Data: s, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	v, err := dataplane.Open(t.Context(), dataplane.Config{
		Ref: svc.Ref{Project: "p", Version: "v1"}, Dir: t.TempDir(), Bucket: s, Branches: branches,
		Owner: svc.Owner{Node: "test", Session: "test"}, Logger: log, Window: window,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	return v
}

// A power failure leaves what is synced and takes the rows that only this machine has. What objects
// have acknowledged is in their files, which are believed and read, whether they were closed or not.
func TestRowsAreLost(t *testing.T) {
	t.Parallel()
	for name, closed := range map[string]bool{"killed": false, "closed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, dir := new(store), filepath.Join(t.TempDir(), "objects")
			v := dataOn(t, s, time.Hour)
			k := keep(t, v, dir, "v1")
			w := serve(t, k)
			w.want(t, "a/add", "1")
			s.away.Store(true)
			w.want(t, "a/add", "2")
			w.want(t, "b/add", "1")
			if closed {
				closeAfter(t, w, k, syscall.SIGTERM)
			} else {
				w.end(syscall.SIGKILL)
				k.abandon()
			}
			if err := v.Close(); err != nil {
				t.Fatal(err)
			}
			s.away.Store(false)

			k = keep(t, dataOn(t, s, time.Hour), dir, "v1")
			w = serve(t, k)
			w.want(t, "a/get", "2")
			w.want(t, "b/get", "1")
			closeAfter(t, w, k, syscall.SIGTERM)
			equal(t, k)
		})
	}
}

// No object is opened before the object store knows which files it belongs to: a power failure would
// take what it acknowledges.
func TestNothingIsAcknowledgedBeforeItIsSafe(t *testing.T) {
	t.Parallel()
	s := new(store)
	v := dataOn(t, s, time.Hour)
	if _, err := Open(t.Context(), v); err != nil {
		t.Fatal(err)
	}
	s.away.Store(true)
	k := keep(t, v, filepath.Join(t.TempDir(), "objects"), "v1")
	w := serve(t, k)
	if got, err := w.get(t.Context(), "a/add"); err == nil && w.lazy {
		t.Errorf("the object acknowledges %s", got)
	}
	s.away.Store(false)
	svctest.Succeeds(t, "the object to be opened", func() error { _, err := w.get(t.Context(), "a/add"); return err })
	if !continues(k.Dir(), generationOf(t, k)) {
		t.Error("the files are not believed")
	}
	closeAfter(t, w, k, syscall.SIGTERM)
	equal(t, k)
}

// While the object store is away for long, objects that are open answer reads, and writes fail; when it
// is back they write again, and nothing that they acknowledged is lost.
func TestWritesFailWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	s := new(store)
	v := dataOn(t, s, 10*time.Millisecond)
	k := keep(t, v, filepath.Join(t.TempDir(), "objects"), "v1")
	w := serve(t, k)
	w.want(t, "a/add", "1")
	s.away.Store(true)
	acked := 1
	svctest.Eventually(t, "writes to fail", func() bool {
		text, err := w.get(t.Context(), "a/add")
		if err == nil {
			acked, _ = strconv.Atoi(text)
			return false
		}
		return true
	})
	w.want(t, "a/get", strconv.Itoa(acked))
	if _, err := w.get(t.Context(), "a/write/1"); err == nil || !strings.Contains(err.Error(), "SQLITE_BUSY") {
		t.Errorf("a write by SQL fails with %v", err)
	}
	w.want(t, "a/get", strconv.Itoa(acked))
	if age, _ := v.Behind(); age < time.Second {
		t.Errorf("the data is %v behind", age)
	}

	s.away.Store(false)
	svctest.Succeeds(t, "writes to be accepted", func() error { _, err := w.get(t.Context(), "a/add"); return err })
	w.want(t, "a/get", strconv.Itoa(acked+1))
	closeAfter(t, w, k, syscall.SIGTERM)
	equal(t, k)
}

// Alarms that are due while the object store is away run when it is back: workerd is stopped meanwhile,
// as it would give them up.
func TestAlarmsWaitForTheStore(t *testing.T) {
	t.Parallel()
	s := new(store)
	k := keep(t, dataOn(t, s, 10*time.Millisecond), filepath.Join(t.TempDir(), "objects"), "v1")
	w := serve(t, k)
	w.want(t, "a/add", "1")
	s.away.Store(true)
	w.want(t, "a/alarm/9000", "set") // when the store is late
	stopped := func() bool {
		k.mu.Lock()
		defer k.mu.Unlock()
		return k.resume != nil
	}
	svctest.Eventually(t, "workerd to be stopped", stopped)
	if err := k.Cut(t.Context(), func() error { return nil }); err != nil || !stopped() {
		t.Errorf("a cut lets workerd run: %v", err)
	}
	s.away.Store(false)
	svctest.Eventually(t, "the alarm to run", func() bool {
		text, err := w.get(t.Context(), "a/alarmed")
		return err == nil && text == "[null,1]"
	})
	closeAfter(t, w, k, syscall.SIGTERM)
	equal(t, k)
}

// What objects write in spite of all has an end.
func TestMuchIsTooMuch(t *testing.T) {
	t.Parallel()
	s := new(store)
	k := keep(t, dataOn(t, s, 10*time.Millisecond), filepath.Join(t.TempDir(), "objects"), "v1")
	w := serve(t, k)
	w.want(t, "a/add", "1")
	s.away.Store(true)
	w.want(t, "a/add", "2")
	svctest.Eventually(t, "the store to be late", func() bool {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.late {
			k.pagesLate = maxPagesLate + 1
		}
		return k.resume != nil
	})
	s.away.Store(false)
	svctest.Succeeds(t, "writes to be accepted", func() error { _, err := w.get(t.Context(), "a/add"); return err })
	w.want(t, "a/get", "3")
	closeAfter(t, w, k, syscall.SIGTERM)
}

func generationOf(t *testing.T, k *Keeper) string {
	t.Helper()
	generation, err := adopt(t.Context(), k.db, Config{Version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	return generation
}
