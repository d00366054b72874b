package ring_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/lib/ring"
)

func open(t *testing.T, dir string, o ring.Options) *ring.Writer {
	t.Helper()
	w, err := ring.Open(dir, "log", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// appendAll appends records with the numbers from to to.
func appendAll(t *testing.T, w *ring.Writer, from, to int) {
	t.Helper()
	for i := from; i <= to; i++ {
		w.Append(fmt.Appendf(nil, `{"v":%d}`, i))
		if i%7 == 0 {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}

// read returns the numbers of the records that r has now, which must be their values.
func read(t *testing.T, r *ring.Reader) (numbers []uint64) {
	t.Helper()
	for {
		n, line, ok, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return numbers
		}
		if want := fmt.Sprintf(`{"n":%d,"v":%d}`, n, n); string(line) != want {
			t.Fatalf("%s, want %s", line, want)
		}
		numbers = append(numbers, n)
	}
}

func wantRun(t *testing.T, got []uint64, from, to uint64) {
	t.Helper()
	if uint64(len(got)) != to-from+1 || got[0] != from || got[len(got)-1] != to {
		t.Fatalf("read %v, want %d to %d", got, from, to)
	}
}

// TestRing writes more than a ring holds, over restarts, and reads from each place.
func TestRing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := ring.Options{SegmentSize: 200, Segments: 3}
	follower := ring.NewReader(dir, "log", 0)
	defer follower.Close()
	if got := read(t, follower); got != nil {
		t.Fatalf("of an empty ring: %v", got)
	}
	const total = 100
	for at := 1; at <= total; at += 10 {
		w := open(t, dir, o)
		appendAll(t, w, at, at+9)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		w.Append([]byte(`{"late":1}`))
		wantRun(t, read(t, follower), uint64(at), uint64(at+9))
	}
	first, err := ring.First(dir, "log")
	if err != nil || first < 50 {
		t.Fatalf("First is %d, %v: nothing was deleted", first, err)
	}
	if last, err := ring.Last(dir, "log"); err != nil || last != total {
		t.Fatalf("Last is %d, %v", last, err)
	}
	for after := range uint64(total) {
		r := ring.NewReader(dir, "log", after)
		wantRun(t, read(t, r), max(after, first)+1, total)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if n, err := ring.Since(dir, "log", time.Now().Add(-time.Hour)); err != nil || n != first {
		t.Errorf("since an hour: %d, %v", n, err)
	}
	if n, err := ring.Since(dir, "log", time.Now().Add(time.Hour)); err != nil || n != total {
		t.Errorf("since the future: %d, %v", n, err)
	}
}

// TestBrokenLine is a writer that was killed in the middle of a record.
func TestBrokenLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := ring.Options{SegmentSize: 1 << 20, Segments: 2}
	appendAll(t, open(t, dir, o), 1, 3)
	r := ring.NewReader(dir, "log", 0)
	defer r.Close()
	wantRun(t, read(t, r), 1, 3)
	path := filepath.Join(dir, fmt.Sprintf("log-%020d.jsonl", 1))
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"n":4,"v":`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got := read(t, r); got != nil {
		t.Fatalf("half a record: %v", got)
	}
	appendAll(t, open(t, dir, o), 4, 5)
	wantRun(t, read(t, r), 4, 5)
}

// TestReaderOfDeletedSegments: a reader that is slow continues with what is kept, and sees
// it by the numbers.
func TestReaderOfDeletedSegments(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := open(t, dir, ring.Options{SegmentSize: 1, Segments: 2})
	appendAll(t, w, 1, 1)
	r := ring.NewReader(dir, "log", 0)
	defer r.Close()
	wantRun(t, read(t, r), 1, 1)
	for i := 2; i <= 9; i++ {
		appendAll(t, w, i, i)
	}
	wantRun(t, read(t, r), 8, 9)
}

// TestFailedWrites: failures are reported, a deleted directory is not one, and the ring
// continues.
func TestFailedWrites(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "ring")
	if _, err := ring.Open(dir, "log", ring.Options{Segments: 1}); err == nil {
		t.Error("opened a directory that does not exist")
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 10)
	w := open(t, dir, ring.Options{SegmentSize: 1 << 20, Segments: 1, Failed: func(err error) { failed <- err }})
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	w.Append([]byte(`{"v":1}`))
	_ = w.Flush()
	if len(failed) != 0 {
		t.Errorf("a deleted ring is reported: %v", <-failed)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the directory was made again")
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.Append([]byte(`{"v":2}`))
	_ = w.Flush()
	if err := <-failed; !strings.Contains(err.Error(), "not a directory") {
		t.Error(err)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	appendAll(t, w, 3, 4)
	r := ring.NewReader(dir, "log", 0)
	defer r.Close()
	wantRun(t, read(t, r), 3, 4)
}

// TestTimer: a record is written without Flush.
func TestTimer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := open(t, dir, ring.Options{SegmentSize: 1 << 20, Segments: 1})
	for i := 1; i <= 20_000; i++ { // also more than one batch
		w.Append(fmt.Appendf(nil, `{"v":%d}`, i))
	}
	r := ring.NewReader(dir, "log", 0)
	defer r.Close()
	var got []uint64
	for limit := time.Now().Add(time.Minute); len(got) < 20_000; {
		if got = append(got, read(t, r)...); time.Now().After(limit) {
			t.Fatalf("%d records after a minute", len(got))
		}
	}
	wantRun(t, got, 1, 20_000)
	if n := w.Dropped(); n != 0 {
		t.Errorf("%d were dropped", n)
	}
}

func BenchmarkAppend(b *testing.B) {
	w, err := ring.Open(b.TempDir(), "log", ring.Options{SegmentSize: 4 << 20, Segments: 4})
	if err != nil {
		b.Fatal(err)
	}
	record := []byte(`{"t":1795336722789000,"s":"request","l":"info","i":"79dd2d5a79dd2d5a","r":{"k":"request","me":"GET","p":"/","st":200,"o":"ok","ro":"preview","us":123}}`)
	b.SetBytes(int64(len(record)))
	for b.Loop() {
		w.Append(record)
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}

// TestBusyDelay: soon after a batch of many records the next one is written later.
func TestBusyDelay(t *testing.T) {
	t.Parallel()
	const busy = 100 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		w := open(t, dir, ring.Options{SegmentSize: 1 << 20, Segments: 2, BusyDelay: busy})
		r := ring.NewReader(dir, "log", 0)
		defer r.Close()
		total := 0
		for _, step := range []struct {
			records int
			after   time.Duration
			read    int
		}{
			{8, ring.Delay, 8},
			{1, ring.Delay, 0},
			{0, busy - ring.Delay, 1},
			{1, ring.Delay, 1},
			{8, ring.Delay, 8},
			{0, time.Second, 0},
			{1, ring.Delay, 1},
		} {
			for range step.records {
				total++
				w.Append(fmt.Appendf(nil, `{"v":%d}`, total))
			}
			time.Sleep(step.after)
			synctest.Wait()
			if got := len(read(t, r)); got != step.read {
				t.Fatalf("%d records read after %s, want %d", got, step.after, step.read)
			}
		}
	})
}
