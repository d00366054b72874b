package deploy_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/objstore/objstoretest"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/server/versions/deploy"
	"github.com/svcctl/svcctl/internal/server/versions/deployqueue"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestArtifactArrivesLate: an upload after the create call wakes the deploy before
// the next check [D41].
// spec: [C13.12]
func TestArtifactArrivesLate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.start(t, func(deps *deploy.Deps) {
		deps.ArtifactWait, deps.Artifacts = time.Hour, objstoretest.Fail(deps.Artifacts, func(op objstoretest.Op, _ string) error {
			if op == objstoretest.Stat { // the bundle is not seen, only heard of
				return objstore.ErrNotExist
			}
			return nil
		})
	})
	v1 := d.submit(t, svc.NewVersion{ID: "v1"})
	snooze := snoozed(t, d, v1)
	w.upload(t, v1, hello(t))
	woken := make(chan struct{})
	go func() {
		defer close(woken)
		snooze.Wait(t.Context())
	}()
	for arrived := false; !arrived; { // until the waiter is registered
		d.ArtifactArrived(v1)
		d.ArtifactArrived(ref("another"))
		select {
		case <-woken:
			arrived = true
		case <-time.After(time.Millisecond):
		}
	}
	if v := d.run(t, v1); v.Status != svc.StatusReady {
		t.Errorf("%s %q", v.Status, v.Error)
	}
}

// snoozed runs an attempt that must end with a snooze.
func snoozed(t *testing.T, d *daemon, ref svc.Ref) *deployqueue.SnoozeError {
	t.Helper()
	var snooze *deployqueue.SnoozeError
	if err := d.Run(t.Context(), deployqueue.Job{Ref: ref, Attempt: 1}); !errors.As(err, &snooze) {
		t.Fatalf("Run: %v; want a snooze", err)
	}
	return snooze
}

// TestArtifactWait: the wait is measured from the start of the step over all claims
// of the job; time while the daemon is stopped does not count.
func TestArtifactWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	wait := func(deps *deploy.Deps) { deps.ArtifactWait = time.Hour }
	d := w.start(t, wait)
	v1 := d.submit(t, svc.NewVersion{ID: "v1"})
	first, again := snoozed(t, d, v1), snoozed(t, d, v1)
	began := registrytest.Get(t, w.DB, v1).Timeline[0].StartedAt
	if !first.Until.Equal(began.Add(time.Hour)) || !again.Until.Equal(first.Until) {
		t.Errorf("fetching began at %v; the job waits until %v, then until %v", began, first.Until, again.Until)
	}
	if next := snoozed(t, w.start(t, wait), v1); !next.Until.After(first.Until) {
		t.Errorf("it waits until %v after a restart, until %v before", next.Until, first.Until)
	}
	d = w.start(t, func(deps *deploy.Deps) { deps.ArtifactWait = 20 * time.Millisecond })
	if v := d.run(t, v1); v.Status != svc.StatusFailed || !strings.HasPrefix(v.Error, "fetching: artifact_missing: no bundle arrived within 20ms: ") {
		t.Errorf("%s %q", v.Status, v.Error)
	}
}

// TestArtifactIsPolled: polling finds the bundle, also after an outage of the object
// store.
// spec: [C13.12]
func TestArtifactIsPolled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	checks := 0
	d := w.start(t, func(deps *deploy.Deps) {
		deps.Artifacts = failingReads(deps.Artifacts, func() error {
			switch checks++; checks {
			case 1, 2:
				return errors.New("connection refused")
			case 4:
				w.upload(t, ref("v1"), hello(t))
			}
			return nil
		})
	})
	if v := d.run(t, d.submit(t, svc.NewVersion{ID: "v1"})); v.Status != svc.StatusReady {
		t.Errorf("%s %q", v.Status, v.Error)
	}
}

// TestArtifactSources: ARTIFACTS_DIR comes first [D43], then the bucket; each can have
// either name [D40].
// spec: [C4.15] [C16.17]
func TestArtifactSources(t *testing.T) {
	t.Parallel()
	for name, where := range map[string]string{
		"directory": "dir/shop/v1/bundle.tar.zst", "directory gz": "dir/shop/v1/bundle.tar.gz",
		"bucket": "shop/v1/bundle.tar.zst", "bucket gz": "shop/v1/bundle.tar.gz",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			dir := filepath.Join(w.root, "dir")
			d := w.start(t, func(deps *deploy.Deps) { deps.ArtifactsDir = dir })
			if strings.HasPrefix(where, "dir/") {
				path := filepath.Join(w.root, where)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, hello(t), 0o600)); err != nil {
					t.Fatal(err)
				}
				w.upload(t, ref("v1"), []byte("not this one"))
			} else {
				w.put(t, where, hello(t))
			}
			if v := d.run(t, d.submit(t, svc.NewVersion{ID: "v1"})); v.Status != svc.StatusReady {
				t.Errorf("%s %q", v.Status, v.Error)
			}
		})
	}
}

// TestCacheIsChecked: a bundle that a crash left half unpacked is unpacked again,
// also over old files.
func TestCacheIsChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.start(t, nil)
	v1 := d.submit(t, svc.NewVersion{ID: "v1"})
	digest := w.upload(t, v1, hello(t))
	dir := filepath.Join(w.cache(), "shop", "v1")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		filepath.Join(dir, "manifest.json"): "half of", filepath.Join(dir, "old"): "", dir + ".sha256": "", dir + ".bundle": "half",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if v := d.run(t, v1); v.Status != svc.StatusReady || v.Digest != digest {
		t.Errorf("%s %q", v.Status, v.Error)
	}
	manifest, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil || !bytes.Contains(manifest, []byte("schema_version")) {
		t.Errorf("%s, %v", manifest, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "old")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an old file still exists: %v", err)
	}
}
