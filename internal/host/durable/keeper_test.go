package durable

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
)

var rounds = flag.Int("durable.rounds", 3, "how many lives of workerd TestKeeper has")

// Whatever objects do and however workerd and its host end, the rows give the same files, and
// no acknowledged write is lost; at every cut they give each object as it was after one of its
// commits. Every second life begins without files.
func TestKeeper(t *testing.T) {
	t.Parallel()
	v, dir := bindingtest.OpenVolumes(t, t.TempDir()), filepath.Join(t.TempDir(), "objects")
	var clients [4]client
	for round := range *rounds {
		k := keep(t, v, dir, "v1")
		w := serve(t, k)
		var running sync.WaitGroup
		end := round % 3
		for i := range clients {
			c, dice := &clients[i], rand.New(rand.NewPCG(uint64(round), uint64(i)))
			c.cut = end == cutOff
			running.Go(func() { c.run(t, w, i, dice) })
		}
		for range 3 {
			if err := k.Cut(t.Context(), func() error { checkImages(t, k); return nil }); err != nil {
				t.Error(err)
			}
		}
		if end == cutOff {
			w.end(syscall.SIGKILL)
		}
		running.Wait()
		if end == hostKilled {
			w.end(syscall.SIGKILL)
			k.abandon()
			continue
		}
		w.end([]syscall.Signal{syscall.SIGKILL, syscall.SIGTERM}[round/3%2])
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
		equal(t, k)
		if err := os.RemoveAll(dir); err != nil { // as after an archive
			t.Fatal(err)
		}
	}
}

// The ends of a life, one after another.
const (
	cutOff     = 0 // workerd is killed in the middle of requests
	hostKilled = 1 // and the Keeper with it, which stores nothing more
)

// abandon ends k as a kill of its process does.
func (k *Keeper) abandon() {
	k.stop()
	<-k.stopped
	k.syncing.Wait()
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, o := range k.objects {
		o.detach()
	}
}

// checkImages checks what the rows hold.
func checkImages(t *testing.T, k *Keeper) {
	t.Helper()
	for name, image := range images(t, k) {
		if !strings.HasSuffix(name, metadata) {
			sound(t, name, image)
		}
	}
}

// client changes objects, and remembers what one of them has acknowledged.
type client struct {
	cut       bool // workerd may be killed meanwhile
	acked     int  // the number that its object has given
	uncertain int  // additions without an answer since
}

func (c *client) run(t *testing.T, w *worker, i int, dice *rand.Rand) {
	t.Helper()
	for range 25 {
		var err error
		switch n := dice.IntN(20); n {
		case 0:
			_, err = w.get(t.Context(), fmt.Sprintf("o%d/clear", i))
		case 1:
			_, err = w.get(t.Context(), fmt.Sprintf("o%d/alarm/20", i))
		case 2, 3, 4: // one of many, most of which are not open
			_, err = w.get(t.Context(), fmt.Sprintf("o%d-%d/write/%d", i, dice.IntN(30), dice.IntN(1<<30)))
		case 5, 6, 7:
			err = c.add(t, w, i)
		default:
			_, err = w.get(t.Context(), fmt.Sprintf("o%d/write/%d", i, dice.IntN(1<<30)))
		}
		if err != nil {
			if !c.cut {
				t.Error(err)
			}
			return
		}
	}
}

// add checks that the object has counted all additions that it acknowledged.
func (c *client) add(t *testing.T, w *worker, i int) error {
	t.Helper()
	c.uncertain++
	text, err := w.get(t.Context(), fmt.Sprintf("n%d/add", i))
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(text)
	if n <= c.acked || n > c.acked+c.uncertain {
		t.Errorf("the object n%d counts %d after %d acknowledged and %d uncertain additions", i, n, c.acked, c.uncertain)
	}
	c.acked, c.uncertain = n, 0
	return err
}

// What a host did not capture before it was killed, the next one finds in the files; an
// archive that comes first finds it too.
func TestFilesContinueTheRows(t *testing.T) {
	t.Parallel()
	v, dir := bindingtest.OpenVolumes(t, t.TempDir()), filepath.Join(t.TempDir(), "objects")
	k := keep(t, v, dir, "v1")
	k.Follow(t.Context(), nil)
	k.stop() // this host captures nothing
	<-k.stopped
	k.stop = nil
	w := serveOnly(t, k)
	for i := range 3 {
		w.want(t, "a/add", fmt.Sprint(i+1))
	}
	w.end(syscall.SIGKILL)

	k = keep(t, v, dir, "v1")
	w = serve(t, k)
	w.want(t, "a/add", "4")
	w.end(syscall.SIGKILL) // and the host with it

	if err := Collect(t.Context(), k.cfg); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(k.Close(), os.RemoveAll(dir)); err != nil {
		t.Fatal(err)
	}
	k = keep(t, v, dir, "v1")
	w = serve(t, k)
	w.want(t, "a/get", "4")
	w.end(syscall.SIGTERM)
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
}

// A child begins with the objects of its parent and without its alarms.
func TestChildHasNoAlarms(t *testing.T) {
	t.Parallel()
	v, parent, child := bindingtest.OpenVolumes(t, t.TempDir()), filepath.Join(t.TempDir(), "p"), filepath.Join(t.TempDir(), "c")
	k := keep(t, v, parent, "v1")
	w := serve(t, k)
	w.want(t, "a/add", "1")
	alarm(t, k, time.Time{})
	w.want(t, "a/alarm/3600000", "set")
	due := time.Now().Add(time.Hour)
	w.want(t, "b/add", "1")
	alarm(t, k, due)
	w.end(syscall.SIGTERM)
	alarm(t, k, due)
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}

	for _, version := range []string{"v2", "v3"} { // a child, and a child of it
		k = keep(t, v, child, version)
		w = serve(t, k)
		w.want(t, "a/alarmed", "[null,0]")
		w.want(t, "a/get", "1")
		alarm(t, k, time.Time{})
		w.want(t, "b/alarm/3600000", "set")
		w.end(syscall.SIGKILL)
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
		k = keep(t, v, child, version) // an alarm of its own it keeps
		w = serve(t, k)
		if got, err := w.get(t.Context(), "b/alarmed"); err != nil || got == "[null,0]" {
			t.Errorf("the version's own alarm: %s, %v", got, err)
		}
		w.end(syscall.SIGTERM)
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// alarm checks when the next alarm is due, within a minute.
func alarm(t *testing.T, k *Keeper, want time.Time) {
	t.Helper()
	if at, err := k.NextAlarm(t.Context()); err != nil || at.IsZero() != want.IsZero() || at.Sub(want).Abs() > time.Minute {
		t.Errorf("the next alarm is at %v, %v; want %v", at, err, want)
	}
}

// The files of a version that was served elsewhere meanwhile are not believed.
func TestStaleFiles(t *testing.T) {
	t.Parallel()
	v, here, there := bindingtest.OpenVolumes(t, t.TempDir()), filepath.Join(t.TempDir(), "h"), filepath.Join(t.TempDir(), "t")
	for i, dir := range []string{here, there, here} {
		k := keep(t, v, dir, "v1")
		w := serve(t, k)
		w.want(t, "a/add", fmt.Sprint(i+1))
		w.end(syscall.SIGTERM)
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
