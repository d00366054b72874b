package bundle_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/bundle"
)

// TestDiff: every kind of difference, and none between equal bundles.
func TestDiff(t *testing.T) {
	t.Parallel()
	m, _ := sample(t)
	if d := bundle.Diff(m, m); len(d) != 0 {
		t.Errorf("equal bundles differ: %+v", d)
	}
	from := bundle.Manifest{
		Main: "a.js", Modules: []bundle.Module{{Name: "a.js", Type: bundle.ESModule, SHA256: "1", Size: 5}, {Name: "old.js", Type: bundle.Text, SHA256: "1", Size: 1}},
		CompatibilityDate: "2026-01-01", Bindings: []bundle.Binding{{Name: "KV", Kind: "kv", Resource: "x"}, {Name: "DB", Kind: "database", Config: []byte(`{"a":1}`)}},
		ObjectClasses: []bundle.ObjectClass{{Name: "Room", Key: "Room"}},
	}
	to := bundle.Manifest{
		Main: "a.js", Modules: []bundle.Module{{Name: "a.js", Type: bundle.ESModule, SHA256: "2", Size: 6}},
		CompatibilityDate: "2026-02-02", Crons: []string{"* * * * *"}, Limits: &bundle.RuntimeLimits{MemoryMB: 64},
		Bindings:       []bundle.Binding{{Name: "KV", Kind: "kv", Resource: "y"}, {Name: "DB", Kind: "database", Config: []byte(`{"a":2}`)}},
		Migrations:     []bundle.Migrations{{Binding: "DB", Files: []bundle.File{{Path: "migrations/DB/0001.sql", SHA256: "3", Size: 7}}}},
		QueueConsumers: []bundle.QueueConsumer{{Queue: "mail"}}, ObjectClasses: []bundle.ObjectClass{{Name: "Room", Key: "Room"}},
		Assets: &bundle.Assets{HTMLHandling: "none", Files: []bundle.File{{Path: "assets/i.html", SHA256: "4", Size: 8}}},
	}
	var got []string
	for _, d := range bundle.Diff(from, to) {
		line := d.What + " " + d.Name
		for _, side := range []*bundle.Side{d.Before, d.After} {
			if side == nil {
				line += " | -"
			} else {
				line += fmt.Sprintf(" | %s %d", side.Text, side.Bytes)
			}
		}
		got = append(got, line)
	}
	want := []string{
		"asset i.html | - |  8", "migration DB/0001.sql | - |  7", "module a.js | esm 5 | esm 6", "module old.js | text 1 | -",
		"binding DB | database 0 | database 0", "binding KV | kv x 0 | kv y 0",
		`setting assets | - | {"html_handling":"none","files":null} 0`, "setting compatibility_date | 2026-01-01 0 | 2026-02-02 0",
		"setting crons | - | * * * * * 0", "setting memory_mb | - | 64 0", `setting queue_consumer mail | - | {"queue":"mail"} 0`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestReadManifest: of a packed bundle, wherever the manifest is, and of what is none.
func TestReadManifest(t *testing.T) {
	t.Parallel()
	want, _ := sample(t)
	data, _ := packSample(t)
	got, err := bundle.ReadManifest(t.Context(), bytes.NewReader(data), bundle.Limits{})
	if err != nil || got.Main != want.Main || len(got.Modules) != len(want.Modules) {
		t.Errorf("got %+v, %v", got, err)
	}
	manifest, module := hello(t)
	late := zstdOf(t, tarOf(t, module, manifest))
	if _, err := bundle.ReadManifest(t.Context(), bytes.NewReader(late), bundle.Limits{}); err != nil {
		t.Error(err)
	}
	_, err = bundle.ReadManifest(t.Context(), bytes.NewReader(gzipOf(t, tarOf(t, module))), bundle.Limits{})
	wantCode(t, err, "bundle_mismatch")
	_, err = bundle.ReadManifest(t.Context(), bytes.NewReader(slices.Concat(data[:len(data)/20])), bundle.Limits{})
	wantCode(t, err, "bundle_truncated")
}
