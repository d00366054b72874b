package workerhost

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"slices"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

// prepared are resources that note what is done to them.
type prepared struct {
	Resources // nothing else is asked of them

	did  []string
	fail string
}

func (p *prepared) do(what string) ([]string, error) {
	p.did = append(p.did, what)
	if what == p.fail {
		return nil, errors.New("it fails")
	}
	return []string{what}, nil
}

func (p *prepared) Scrub(context.Context, string, svc.Scrub) error {
	_, err := p.do("scrub")
	return err
}

func (p *prepared) Seed(context.Context, *bundle.Manifest, fs.FS) ([]svc.SeedFile, error) {
	_, err := p.do("seed")
	return []svc.SeedFile{{Path: "seed"}}, err
}

func (p *prepared) Migrate(context.Context, *bundle.Manifest, fs.FS) ([]string, error) {
	return p.do("migrate")
}

func (*prepared) Warnings() []string { return []string{"warning"} }

// The data of a child, too, is seeded: after its scrub, so that no seed copies
// what the scrub takes away, and before its migrations.
func TestPrepare(t *testing.T) {
	t.Parallel()
	all := []string{"scrub", "seed", "migrate"}
	for _, parent := range []string{"", "v1"} {
		for i, fail := range []string{"scrub", "seed", "migrate", ""} {
			r := &prepared{fail: fail}
			h := New(Options{Logger: slog.New(slog.DiscardHandler)})
			h.version = &version{spec: svc.RuntimeSpec{Parent: parent, Local: svc.LocalSpec{BundleDir: t.TempDir()}}, resources: r}
			got, err := h.Prepare(t.Context())
			if (err == nil) != (fail == "") || !slices.Equal(r.did, all[:min(i+1, len(all))]) {
				t.Errorf("parent %q: %v, %v", parent, r.did, err)
			}
			if fail == "" && (!slices.Equal(got.Seeded, []svc.SeedFile{{Path: "seed"}}) || !slices.Equal(got.Applied, []string{"migrate"}) || !slices.Equal(got.Warnings, []string{"warning"})) {
				t.Errorf("parent %q: %+v", parent, got)
			}
		}
	}
}
