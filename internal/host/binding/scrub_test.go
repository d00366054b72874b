package binding_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

// scrubbed is a kind whose instances note what they were scrubbed with.
type scrubbed struct{ kind }

type scrubbedInstance struct{ *instance }

func (k scrubbed) Open(ctx context.Context, d bundle.Binding, v volume.Volumes) (binding.Instance, error) {
	in, err := k.kind.Open(ctx, d, v)
	one, ok := in.(*instance)
	if !ok {
		return in, err
	}
	return scrubbedInstance{one}, err
}

func (i scrubbedInstance) Scrub(_ context.Context, name, id string, sql func() (string, error)) error {
	if i.resource == "new" {
		return nil
	}
	text, err := sql()
	if err != nil {
		return err
	}
	*i.log = append(*i.log, name+" for "+id+": "+strings.TrimSpace(text))
	if strings.Contains(text, "fails") {
		return errors.New("it fails")
	}
	return nil
}

func TestSetScrub(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		scrub svc.Scrub
		want  []string
		err   string
	}{
		"nothing":    {svc.Scrub{}, nil, ""},
		"everything": {svc.Scrub{ID: "v2", SQL: "x;"}, []string{"A for v2: x;", "C for v2: x;"}, ""},
		"sections":   {svc.Scrub{ID: "v2", SQL: "x;\n-- database: shop/one\ny;\n-- database: shop/two\n"}, []string{"A for v2: x;\n-- database: shop/one\ny;", "C for v2: x;\n\n\n-- database: shop/two"}, ""},
		"incomplete": {svc.Scrub{ID: "v2", SQL: "-- database: shop/one\ny;"}, []string{"A for v2: -- database: shop/one\ny;"}, "shop/two"},
		"failure":    {svc.Scrub{ID: "v2", SQL: "fails"}, []string{"A for v2: fails"}, "it fails"},
	} {
		var log []string
		kinds := []binding.Kind{scrubbed{kind{name: "s", log: &log}}, kind{name: "k", log: &log}}
		set, err := binding.OpenAll(t.Context(), kinds, manifest(
			bundle.Binding{Name: "A", Kind: "s", Resource: "one"}, bundle.Binding{Name: "B", Kind: "s", Resource: "one"},
			bundle.Binding{Name: "K", Kind: "k", Resource: "other"}, bundle.Binding{Name: "N", Kind: "s", Resource: "new"},
			bundle.Binding{Name: "C", Kind: "s", Resource: "two"}, bundle.Binding{Name: "D", Kind: "s"}), nil)
		if err != nil {
			t.Fatal(err)
		}
		log = nil
		err = set.Scrub(t.Context(), "shop", tc.scrub)
		if tc.err == "" && err != nil || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
			t.Errorf("%s: %v, want %q", name, err, tc.err)
		}
		if !slices.Equal(log, tc.want) {
			t.Errorf("%s: %q, want %q", name, log, tc.want)
		}
	}
}
