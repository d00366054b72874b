package durable

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
)

var rounds = flag.Int("durable.rounds", 3, "how many lives of workerd TestKeeper has")

// Whatever objects do and however workerd ends, the rows give the same files; at every cut
// they give each object as it was after one of its commits.
func TestKeeper(t *testing.T) {
	t.Parallel()
	v, dir := bindingtest.OpenVolumes(t, t.TempDir()), filepath.Join(t.TempDir(), "objects")
	for round := range *rounds {
		k := keep(t, v, dir, "v1")
		w := serve(t, k)
		var clients sync.WaitGroup
		for i := range 4 {
			clients.Go(func() {
				dice := rand.New(rand.NewPCG(uint64(round), uint64(i)))
				for range 25 {
					path := fmt.Sprintf("o%d/write/%d", i, dice.IntN(1<<30))
					switch dice.IntN(20) {
					case 0:
						path = fmt.Sprintf("o%d/clear", i)
					case 1:
						path = fmt.Sprintf("o%d/alarm/20", i)
					}
					if _, err := w.get(t.Context(), path); err != nil {
						t.Errorf("%s: %v", path, err)
						return
					}
				}
			})
		}
		for range 3 {
			if err := k.Cut(t.Context(), func() error {
				for name, image := range images(t, k) {
					if !strings.HasSuffix(name, metadata) {
						sound(t, name, image)
					}
				}
				return nil
			}); err != nil {
				t.Error(err)
			}
		}
		clients.Wait()
		w.end([]syscall.Signal{syscall.SIGKILL, syscall.SIGTERM}[round%2])
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
		equal(t, k)
		if round%3 == 2 { // as after a wake
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}
	}
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
