package registry_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
)

func sealed(project, name string, class svc.SecretClass, key, value string) svc.SealedSecret {
	return svc.SealedSecret{
		SecretName: svc.SecretName{Project: project, Name: name, Class: class},
		Value:      svc.SealedValue{KeyID: key, Bytes: []byte(value)}, UpdatedAt: time.UnixMilli(1700), UpdatedBy: "ana",
	}
}

// TestSecrets: what is written is read, of one project alone, and a project that is deleted keeps none.
func TestSecrets(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop", "bank")
	one, two := sealed("shop", "A", svc.SecretRelease, "k1", "x"), sealed("shop", "A", svc.SecretPreview, "k2", "y")
	two.Before = svc.SealedValue{KeyID: "k1", Bytes: []byte("z")}
	all, err := db.WriteSecrets(t.Context(), svc.SecretWrite{Project: "shop", Put: []svc.SealedSecret{one, two}})
	if diff := cmp.Diff([]svc.SealedSecret{two, one}, all); err != nil || diff != "" {
		t.Fatalf("%v\n%s", err, diff)
	}
	if other, err := db.Secrets(t.Context(), "bank"); err != nil || len(other) > 0 {
		t.Errorf("bank has %v, %v", other, err)
	}
	if counts, err := db.SecretKeys(t.Context()); err != nil || counts["k1"] != 2 || counts["k2"] != 1 {
		t.Errorf("keys %v, %v", counts, err)
	}
	if all, err = db.WriteSecrets(t.Context(), svc.SecretWrite{Project: "shop", Delete: []svc.SecretName{one.SecretName}}); err != nil || len(all) != 1 || all[0].Class != svc.SecretPreview {
		t.Errorf("%v, %v", all, err)
	}
	if _, err := db.DeleteProject(t.Context(), "shop", ""); err != nil {
		t.Fatal(err)
	}
	registrytest.AddProject(t, db, "shop")
	if left, err := db.AllSecrets(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("after the delete of the project: %v, %v", left, err)
	}
}

// TestWriteSecretsErrors: a change that meets a promotion, another production, too many secrets or no
// project stores nothing.
func TestWriteSecretsErrors(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	write := func(w svc.SecretWrite) error {
		_, err := db.WriteSecrets(t.Context(), w)
		return err
	}
	put := []svc.SealedSecret{sealed("shop", "A", svc.SecretRelease, "k", "x")}
	registrytest.WantError(t, write(svc.SecretWrite{Project: "none", Put: put}), svc.NotFound, "project_not_found")
	registrytest.WantError(t, write(svc.SecretWrite{Project: "shop", Production: "v1", Put: put}), svc.Conflict, "promote_in_progress")
	var many []svc.SealedSecret
	for i := range svc.MaxSecrets + 1 {
		many = append(many, sealed("shop", "K"+strconv.Itoa(i), svc.SecretRelease, "k", "x"))
	}
	registrytest.WantError(t, write(svc.SecretWrite{Project: "shop", Put: many}), svc.Unprocessable, "secrets_too_many")
	v := registrytest.Add(t, db, "shop", "v1", registrytest.ToReady()...)
	op := svc.Promotion{ID: "op-1", Project: "shop", Version: "v1", Status: svc.PromotionRunning, CreatedAt: time.Now()}
	if promoted, err := db.Promoted(t.Context(), v.Ref); promoted || err != nil {
		t.Errorf("before: %v, %v", promoted, err)
	}
	if err := db.CreatePromotion(t.Context(), op); err != nil {
		t.Fatal(err)
	}
	registrytest.WantError(t, write(svc.SecretWrite{Project: "shop", Put: put}), svc.Conflict, "promote_in_progress")
	if promoted, err := db.Promoted(t.Context(), v.Ref); !promoted || err != nil {
		t.Errorf("during the promotion: %v, %v", promoted, err)
	}
	if err := db.FinishPromotion(t.Context(), op.ID, svc.PromotionOutcome{Status: svc.PromotionFailed}); err != nil {
		t.Fatal(err)
	}
	if promoted, err := db.Promoted(t.Context(), v.Ref); promoted || err != nil {
		t.Errorf("after it failed: %v, %v", promoted, err)
	}
	if all, err := db.AllSecrets(t.Context()); err != nil || len(all) > 0 {
		t.Errorf("stored %v, %v", all, err)
	}
}

// TestResealSecret: a value that changed meanwhile is not replaced.
func TestResealSecret(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	was, next := sealed("shop", "A", svc.SecretRelease, "k1", "x"), sealed("shop", "A", svc.SecretRelease, "k2", "xx")
	if _, err := db.WriteSecrets(t.Context(), svc.SecretWrite{Project: "shop", Put: []svc.SealedSecret{was}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []bool{true, false} {
		if done, err := db.ResealSecret(t.Context(), was, next); err != nil || done != want {
			t.Errorf("done %v, %v, want %v", done, err, want)
		}
	}
	if all, err := db.AllSecrets(t.Context()); err != nil || len(all) != 1 || all[0].Value.KeyID != "k2" {
		t.Errorf("%v, %v", all, err)
	}
}
