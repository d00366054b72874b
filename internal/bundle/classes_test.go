package bundle_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestComparedClasses: no class of the parent loses its objects without a word.
func TestComparedClasses(t *testing.T) {
	t.Parallel()
	class := func(name, key string) bundle.ObjectClass {
		return bundle.ObjectClass{Name: name, Key: key, Described: true}
	}
	gone := bundle.ObjectClass{Name: "A", Key: "A", Deleted: true, Described: true}
	for name, test := range map[string]struct {
		parent, child []bundle.ObjectClass
		unnamed       []string
		hint          string // "" if it is accepted
	}{
		"new":                 {nil, []bundle.ObjectClass{class("A", "A")}, nil, ""},
		"the same":            {[]bundle.ObjectClass{class("A", "A")}, []bundle.ObjectClass{class("A", "A")}, nil, ""},
		"renamed":             {[]bundle.ObjectClass{class("A", "A")}, []bundle.ObjectClass{class("B", "A")}, nil, ""},
		"renamed before":      {[]bundle.ObjectClass{class("B", "A")}, []bundle.ObjectClass{class("B", "A")}, nil, ""},
		"deleted":             {[]bundle.ObjectClass{class("A", "A")}, []bundle.ObjectClass{gone, class("B", "B")}, nil, ""},
		"deleted before":      {[]bundle.ObjectClass{gone}, []bundle.ObjectClass{class("A", "A")}, nil, ""},
		"not named":           {[]bundle.ObjectClass{class("A", "A"), class("B", "B")}, []bundle.ObjectClass{class("B", "B")}, []string{"A"}, ""},
		"the entry is gone":   {[]bundle.ObjectClass{class("B", "A")}, []bundle.ObjectClass{class("B", "B")}, nil, `keep "A": { "type": "durable-object", "state": "renamed", "renamed_to": "B" }`},
		"renamed twice":       {[]bundle.ObjectClass{class("B", "A")}, []bundle.ObjectClass{class("C", "B")}, nil, `keep "A"`},
		"deleted by its name": {[]bundle.ObjectClass{class("B", "A")}, []bundle.ObjectClass{{Name: "B", Key: "B", Deleted: true, Described: true}}, nil, `keep "A"`},
		"never had that name": {[]bundle.ObjectClass{class("B", "B")}, []bundle.ObjectClass{class("B", "A")}, nil, "remove the entry A"},
		"made again":          {[]bundle.ObjectClass{class("A", "A.2")}, []bundle.ObjectClass{class("A", "A")}, nil, "keep migrations"},
		"by migrations":       {[]bundle.ObjectClass{class("B", "A")}, []bundle.ObjectClass{{Name: "B", Key: "B"}}, nil, ""},
	} {
		unnamed, err := bundle.ComparedClasses(bundle.Manifest{ObjectClasses: test.parent}, bundle.Manifest{ObjectClasses: test.child})
		if test.hint == "" && (err != nil || !slices.Equal(unnamed, test.unnamed)) {
			t.Errorf("%s: %q, %v", name, unnamed, err)
		}
		if test.hint != "" && (svc.CodeOf(err) != svc.CodeObjectClassDiffers || !strings.Contains(svc.AsError(err).Hint, test.hint)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
