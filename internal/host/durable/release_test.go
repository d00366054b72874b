package durable

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func continuing(c *Config) { c.Continues = true }
func handedOver(c *Config) { c.HandedOver = true }

// life runs one workerd of a version on the rows in v.
func life(t *testing.T, v volume.Volumes, dir, version string, set func(*Config), run func(*Keeper, *worker)) *Keeper {
	t.Helper()
	k := keep(t, v, dir, version, set)
	w := serve(t, k)
	run(k, w)
	closeAfter(t, w, k, syscall.SIGTERM)
	return k
}

func plain(*Config) {}

// alarms checks how many alarms would run.
func alarms(t *testing.T, k *Keeper, want int) {
	t.Helper()
	if n, err := k.Alarms(t.Context()); n != want || err != nil {
		t.Errorf("%d alarms, %v; want %d", n, err, want)
	}
}

// isSet checks whether the record in an object has an alarm.
func isSet(t *testing.T, w *worker, object string, want bool) {
	t.Helper()
	if got, err := w.get(t.Context(), object+"/alarmed"); err != nil || (got != "[null,0]") != want {
		t.Errorf("the alarm of %s: %s, %v; want one: %v", object, got, err, want)
	}
}

// TestReleaseContinuesAlarms: a version that a release made runs the alarms of its parent, once: what
// it has deleted does not return, and a plain child of it has none.
func TestReleaseContinuesAlarms(t *testing.T) {
	t.Parallel()
	v, dir := bindingtest.OpenVolumes(t, t.TempDir()), t.TempDir()
	due := time.Now().Add(time.Hour)
	life(t, v, filepath.Join(dir, "v1"), "v1", plain, func(_ *Keeper, w *worker) {
		w.want(t, "later/alarm/3600000", "set")
		w.want(t, "gone/alarm/100000", "set")
	})
	v1 := filepath.Join(dir, "v1")
	life(t, v, v1, "v1", plain, func(_ *Keeper, w *worker) { w.want(t, "soon/alarm/3000", "set"); w.end(syscall.SIGKILL) })
	v2 := filepath.Join(dir, "v2")
	life(t, v, v2, "v2", continuing, func(k *Keeper, w *worker) {
		svctest.Eventually(t, "the alarm that became due meanwhile", func() bool {
			text, err := w.get(t.Context(), "soon/alarmed")
			return err == nil && text == "[null,1]"
		})
		isSet(t, w, "later", true)
		w.want(t, "gone/unset", "deleted")
		alarm(t, k, due)
	})
	equal(t, life(t, v, v2, "v2", continuing, func(k *Keeper, w *worker) {
		alarms(t, k, 1)
		isSet(t, w, "gone", false)
		isSet(t, w, "later", true)
		w.want(t, "soon/alarmed", "[null,1]")
	}))
	life(t, v, filepath.Join(dir, "v3"), "v3", plain, func(k *Keeper, w *worker) {
		alarms(t, k, 0)
		isSet(t, w, "later", false)
	})
}

// TestHandedOver: a version whose events another one continues arms no alarm and needs no start for
// one. When it is production again its alarms run as they were, except what requests changed since.
func TestHandedOver(t *testing.T) {
	t.Parallel()
	v, dir := bindingtest.OpenVolumes(t, t.TempDir()), filepath.Join(t.TempDir(), "v1")
	due := time.Now().Add(time.Hour)
	life(t, v, dir, "v1", plain, func(k *Keeper, w *worker) {
		w.want(t, "kept/alarm/3600000", "set")
		w.want(t, "deleted/alarm/10000", "set")
		w.want(t, "moved/alarm/10000", "set")
		w.want(t, "soon/alarm/10000", "set")
		w.want(t, "a/add", "1")
		if _, err := k.NextAlarm(t.Context()); err != nil { // it captures them
			t.Error(err)
		}
		alarms(t, k, 4)
	})
	handed := func(k *Keeper, w *worker) {
		alarm(t, k, time.Time{})
		alarms(t, k, 0)
		isSet(t, w, "kept", true) // its record stays
	}
	life(t, v, dir, "v1", handedOver, func(k *Keeper, w *worker) {
		handed(k, w)
		w.want(t, "a/add", "2") // the files are not lost
		w.want(t, "deleted/unset", "deleted")
		w.want(t, "moved/alarm/7200000", "set")
		w.want(t, "new/alarm/7200000", "set")
	})
	for n := range 2 { // what was set meanwhile is not armed either
		equal(t, life(t, v, dir, "v1", handedOver, func(k *Keeper, w *worker) {
			handed(k, w)
			w.want(t, "a/add", fmt.Sprint(3+n))
		}))
	}
	life(t, v, dir, "v1", plain, func(k *Keeper, w *worker) {
		alarms(t, k, 5)
		svctest.Eventually(t, "the alarm to run", func() bool {
			text, err := w.get(t.Context(), "soon/alarmed")
			return err == nil && text == "[null,1]"
		})
		svctest.Eventually(t, "the alarm that was deleted to be canceled", func() bool {
			_, err := k.NextAlarm(t.Context()) // captures
			n, countErr := k.Alarms(t.Context())
			return err == nil && countErr == nil && n == 3
		})
		alarm(t, k, due)
		for object, want := range map[string]bool{"kept": true, "moved": true, "new": true, "deleted": false} {
			isSet(t, w, object, want)
		}
		w.want(t, "a/get", "4")
	})
	equal(t, life(t, v, dir, "v1", plain, func(k *Keeper, _ *worker) {
		alarms(t, k, 3) // and no more those that have run
	}))
	k := keep(t, v, dir, "v1", handedOver)
	alarms(t, k, 0)
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	life(t, v, filepath.Join(t.TempDir(), "child"), "v2", plain, func(k *Keeper, w *worker) { // of a version that was handed over
		alarms(t, k, 0)
		isSet(t, w, "kept", false)
	})
}

// TestHandedOverKilled: alarms that a process wrote before it was killed are set aside with the rest.
func TestHandedOverKilled(t *testing.T) {
	t.Parallel()
	v, dir := bindingtest.OpenVolumes(t, t.TempDir()), filepath.Join(t.TempDir(), "v1")
	k := keep(t, v, dir, "v1")
	k.Follow(t.Context(), nil)
	k.stop() // this host captures nothing
	<-k.stopped
	k.stop = nil
	w := serveOnly(t, k)
	w.want(t, "a/add", "1")
	w.want(t, "a/alarm/3600000", "set")
	w.end(syscall.SIGKILL)
	life(t, v, dir, "v1", handedOver, func(k *Keeper, w *worker) {
		alarms(t, k, 0)
		w.want(t, "a/get", "1")
	})
	life(t, v, dir, "v1", plain, func(k *Keeper, _ *worker) { alarms(t, k, 1) })
}
