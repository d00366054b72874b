package deploy_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/deploy"
	"github.com/svcctl/svcctl/internal/jobs"
	"github.com/svcctl/svcctl/internal/svc"
)

// An upload after the create call wakes the deploy at once [D41].
func TestArtifactArrivesLate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	looked := make(chan struct{})
	var once sync.Once
	d := w.start(t, func(deps *deploy.Deps) {
		deps.ArtifactWait = time.Hour
		deps.Artifacts = flaky{deps.Artifacts, func() error { once.Do(func() { close(looked) }); return nil }}
	})
	v1 := d.submit(t, svc.NewVersion{ID: "v1"})
	done := make(chan error)
	go func() { done <- d.Run(t.Context(), jobs.Job{Ref: v1, Attempt: 1}) }()
	<-looked
	w.upload(t, v1, hello(t))
	d.ArtifactArrived(v1)
	d.ArtifactArrived(v1)
	d.ArtifactArrived(ref("nobody"))
	if err := <-done; err != nil || w.version(t, v1).Status != svc.StatusReady {
		t.Errorf("%v; %+v", err, w.version(t, v1))
	}
}

// Without a wake-up it is found by looking, also after the store was down.
func TestArtifactIsPolled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	looks := 0
	d := w.start(t, func(deps *deploy.Deps) {
		deps.Artifacts = flaky{deps.Artifacts, func() error {
			switch looks++; looks {
			case 1, 2:
				return errors.New("connection refused")
			case 4:
				w.upload(t, ref("v1"), hello(t))
			}
			return nil
		}}
	})
	if v := d.run(t, d.submit(t, svc.NewVersion{ID: "v1"})); v.Status != svc.StatusReady {
		t.Errorf("%s %q", v.Status, v.Error)
	}
}

// ARTIFACTS_DIR comes first [D43], the bucket next; both names are found [D40].
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

// What a crash left half unpacked is unpacked again, also over old files.
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
		t.Errorf("an old file is still there: %v", err)
	}
}
