package secrets_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/server/versions/secrets"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestClasses: production and other versions get the secrets of releases, previews and pull requests those
// of previews and no others. spec: [C2.21]
func TestClasses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(svc.NewVersion{ID: "v1"})
	w.add(svc.NewVersion{ID: "v2", GitRef: "refs/heads/main"})
	w.add(svc.NewVersion{ID: "pr", GitRef: "refs/pull/7"})
	w.add(svc.NewVersion{ID: "named", Preview: svc.PreviewRequest{Name: "topic"}})
	w.promote("v1", "")
	s := w.start(ring(t, line(t, "a")))
	done, err := s.Change(t.Context(), "shop", put("KEY", marker))
	if err != nil || !slices.Equal(slices.Sorted(slices.Values(done.Restarted)), []string{"v1", "v2"}) || done.Restarted[0] != "v1" {
		t.Errorf("restarted %v, %v", done.Restarted, err)
	}
	c := put("KEY", "preview-value")
	c.Class = svc.SecretPreview
	if done, err = s.Change(t.Context(), "shop", c); err != nil || !slices.Equal(slices.Sorted(slices.Values(done.Restarted)), []string{"named", "pr"}) {
		t.Errorf("restarted %v, %v", done.Restarted, err)
	}
	for version, want := range map[string]string{"v1": marker, "v2": marker, "pr": "preview-value", "named": "preview-value"} {
		w.has(version, "KEY", want)
	}
}

// TestClassOfProduction: a preview that is promoted gets the secrets of releases when the promotion runs,
// and those of previews when it is replaced. A pull request that is the first production of its project by
// itself does not get them.
func TestClassOfProduction(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(svc.NewVersion{ID: "pr", GitRef: "refs/pull/7"})
	w.add(svc.NewVersion{ID: "v2"})
	w.promote("pr", "")
	s := w.start(ring(t, line(t, "a")))
	if _, err := s.Change(t.Context(), "shop", put("KEY", marker)); err != nil {
		t.Fatal(err)
	}
	of := func() string {
		t.Helper()
		values, err := s.Of(t.Context(), registrytest.Get(t, w.DB, svc.Ref{Project: "shop", Version: "pr"}))
		if err != nil {
			t.Fatal(err)
		}
		return values["KEY"]
	}
	if of() != "" {
		t.Error("the first production is a pull request and has the secret")
	}
	w.promote("v2", "pr")
	op := svc.Promotion{ID: "op-1", Project: "shop", Version: "pr", Previous: "v2", Status: svc.PromotionRunning, CreatedAt: time.Now()}
	if err := w.CreatePromotion(t.Context(), op); err != nil {
		t.Fatal(err)
	}
	if of() != marker {
		t.Error("during its promotion the version lacks the secret")
	}
	w.promote("pr", "v2")
	if err := w.FinishPromotion(t.Context(), op.ID, svc.PromotionOutcome{Status: svc.PromotionDone}); err != nil {
		t.Fatal(err)
	}
	if of() != marker {
		t.Error("production that was promoted lacks the secret")
	}
	w.promote("v2", "pr")
	if of() != "" {
		t.Error("a version that was replaced has the secret")
	}
}

// TestShadowed: a version whose bundle or overrides have the name is not restarted, and an equal value
// restarts nothing.
func TestShadowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(svc.NewVersion{ID: "v1", Env: map[string]string{"KEY": "own"}})
	w.add(svc.NewVersion{ID: "v2"})
	w.promote("v1", "")
	s := w.start(ring(t, line(t, "a")))
	for _, want := range [][]string{{"v2"}, nil} {
		done, err := s.Change(t.Context(), "shop", put("KEY", marker))
		if err != nil || !slices.Equal(done.Restarted, want) || len(done.Secrets) != 1 {
			t.Errorf("restarted %v, want %v; %v", done.Restarted, want, err)
		}
	}
}

// TestBrokenValue: if production does not start with a value, the earlier one stays, and no error or log
// line has either.
func TestBrokenValue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(svc.NewVersion{ID: "v1"})
	w.promote("v1", "")
	s := w.start(ring(t, line(t, "a")))
	if _, err := s.Change(t.Context(), "shop", put("KEY", marker)); err != nil {
		t.Fatal(err)
	}
	w.broken = marker + "-broken"
	_, err := s.Change(t.Context(), "shop", put("KEY", w.broken))
	registrytest.WantError(t, err, svc.Internal, svc.CodeSecretRestartFailed)
	w.has("v1", "KEY", marker)
	if strings.Contains(err.Error()+w.log.String(), marker) {
		t.Errorf("a value is in %v or in the log:\n%s", err, w.log)
	}
}

// TestPromotionMeanwhile: a change that a promotion overtakes stores nothing, and production has its
// recorded values again.
func TestPromotionMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(svc.NewVersion{ID: "v1"})
	w.add(svc.NewVersion{ID: "v2"})
	w.promote("v1", "")
	s := w.start(ring(t, line(t, "a")))
	w.tried = func() { w.promote("v2", "v1") }
	_, err := s.Change(t.Context(), "shop", put("KEY", marker))
	registrytest.WantError(t, err, svc.Conflict, svc.CodePromoteInProgress)
	w.has("v1", "KEY", "")
	if all, err := s.List(t.Context(), "shop"); err != nil || len(all) > 0 {
		t.Errorf("stored %v, %v", all, err)
	}
}

// TestRollback: a rollback exchanges the present and the earlier value.
func TestRollback(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(svc.NewVersion{ID: "v1"})
	w.promote("v1", "")
	s := w.start(ring(t, line(t, "a")))
	name := svc.SecretName{Project: "shop", Name: "KEY", Class: svc.SecretRelease}
	_, err := s.Rollback(t.Context(), name, "ben")
	registrytest.WantError(t, err, svc.NotFound, svc.CodeSecretNotFound)
	for i, value := range []string{"one", "two"} {
		if _, err := s.Change(t.Context(), "shop", put("KEY", value)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Rollback(t.Context(), name, "ben"); i == 0 {
			registrytest.WantError(t, err, svc.Conflict, svc.CodeSecretNoBefore)
		} else if err != nil {
			t.Fatal(err)
		}
	}
	w.has("v1", "KEY", "one")
	done, err := s.Rollback(t.Context(), name, "ben")
	if err != nil || len(done.Secrets) != 1 || done.Secrets[0].UpdatedBy != "ben" {
		t.Errorf("%+v, %v", done, err)
	}
	w.has("v1", "KEY", "two")
	if _, err := s.Change(t.Context(), "shop", svc.SecretChange{Class: svc.SecretRelease, Delete: []string{"KEY"}}); err != nil {
		t.Fatal(err)
	}
	w.has("v1", "KEY", "")
}

// TestReseal: after a new first key all values are sealed with it, and the key before it can go. Without
// it, the values do not open, and versions with secrets stay down.
func TestReseal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(svc.NewVersion{ID: "v1"})
	older, newer := line(t, "older"), line(t, "newer")
	s := w.start(ring(t, older))
	for _, value := range []string{marker + "1", marker + "2"} {
		if _, err := s.Change(t.Context(), "shop", put("KEY", value)); err != nil {
			t.Fatal(err)
		}
	}
	v := registrytest.Get(t, w.DB, svc.Ref{Project: "shop", Version: "v1"})
	s.SetKeys(ring(t, newer))
	_, err := s.Of(t.Context(), v)
	registrytest.WantError(t, err, svc.Unavailable, svc.CodeSecretUnreadable)
	if !strings.Contains(err.Error(), "older") || strings.Contains(err.Error(), marker) {
		t.Errorf("the error is %v", err)
	}
	if done, err := s.Reseal(t.Context()); err != nil || len(done.Unreadable) != 1 || done.Resealed != 0 {
		t.Errorf("%+v, %v", done, err)
	}
	s.SetKeys(ring(t, newer, older))
	for _, want := range []int{1, 0} {
		if done, err := s.Reseal(t.Context()); err != nil || done.Resealed != want || len(done.Unreadable) != 0 || done.Key != "newer" {
			t.Errorf("%+v, %v, want %d", done, err, want)
		}
	}
	s.SetKeys(ring(t, newer))
	if values, err := s.Of(t.Context(), v); err != nil || values["KEY"] != marker+"2" {
		t.Errorf("%v, %v", values, err)
	}
	if _, err := s.Rollback(t.Context(), svc.SecretName{Project: "shop", Name: "KEY", Class: svc.SecretRelease}, ""); err != nil {
		t.Error(err)
	}
	s.SetKeys(nil)
	_, err = s.Change(t.Context(), "shop", put("KEY", "x"))
	registrytest.WantError(t, err, svc.Conflict, svc.CodeSecretsKeyMissing)
}

// TestUnreadable: a value that no key opens any more can be replaced and deleted.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.start(ring(t, line(t, "lost")))
	if _, err := s.Change(t.Context(), "shop", put("KEY", marker)); err != nil {
		t.Fatal(err)
	}
	s.SetKeys(ring(t, line(t, "new")))
	_, err := s.Change(t.Context(), "shop", put("OTHER", "x"))
	registrytest.WantError(t, err, svc.Unavailable, svc.CodeSecretUnreadable)
	if _, err := s.Change(t.Context(), "shop", put("KEY", "again")); err != nil {
		t.Error(err)
	}
	if _, err := s.Change(t.Context(), "shop", put("OTHER", "x")); err != nil {
		t.Error(err)
	}
}

// TestChangeErrors: what is wrong with a change is said by field, and nothing is stored.
func TestChangeErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.start(ring(t, line(t, "a")))
	_, err := s.Change(t.Context(), "shop", svc.SecretChange{Class: "all", Put: map[string]string{"SVC_A": marker, "9": marker, "OK": marker, "BIG": strings.Repeat("x", svc.MaxEnvValueSize+1)}})
	e := svc.AsError(err)
	var got []string
	for _, f := range e.Fields {
		got = append(got, f.Pointer+" "+f.Code)
	}
	if !slices.Equal(got, []string{"/class secret_class_invalid", "/secrets/9 env_invalid_key", "/secrets/BIG env_value_too_large", "/secrets/SVC_A env_reserved_key"}) || strings.Contains(err.Error(), marker) {
		t.Errorf("%q, %v", got, err)
	}
	_, err = s.Change(t.Context(), "none", put("A", "x"))
	registrytest.WantError(t, err, svc.NotFound, svc.CodeProjectNotFound)
	_, err = s.Change(t.Context(), "shop", svc.SecretChange{Class: svc.SecretRelease, Put: map[string]string{"A": "x"}, Delete: []string{"B"}})
	registrytest.WantError(t, err, svc.NotFound, svc.CodeSecretNotFound)
	if all, err := s.List(t.Context(), "shop"); err != nil || len(all) > 0 {
		t.Errorf("stored %v, %v", all, err)
	}
}

// TestNotInFiles: neither the database nor its write-ahead log nor a copy holds a value, also after it was
// replaced and deleted.
func TestNotInFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.start(ring(t, line(t, "a")))
	for _, c := range []svc.SecretChange{put("KEY", marker), put("KEY", marker+"2"), put("OTHER", marker), {Class: svc.SecretRelease, Delete: []string{"OTHER"}}} {
		if _, err := s.Change(t.Context(), "shop", c); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(w.path), "*"))
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		content, err := os.ReadFile(f)
		if err != nil || bytes.Contains(content, []byte(marker)) {
			t.Errorf("%s has the value, or %v", f, err)
		}
	}
	if strings.Contains(w.log.String(), marker) {
		t.Error("the log has the value")
	}
}

// TestDuringDeploy: a version that is being deployed is asked again later.
func TestDuringDeploy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	registrytest.Add(t, w.DB, "shop", "v1", registrytest.ToReady()[:4]...)
	s := w.start(ring(t, line(t, "a")))
	if _, err := s.Change(t.Context(), "shop", put("KEY", marker)); err != nil {
		t.Fatal(err)
	}
	svctest.Eventually(t, "the version has the secret", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.running["v1"]["KEY"] == marker
	})
}

// TestNew: a service needs its parts.
func TestNew(t *testing.T) {
	t.Parallel()
	if _, err := secrets.New(secrets.Deps{}); err == nil {
		t.Error("no error")
	}
}
