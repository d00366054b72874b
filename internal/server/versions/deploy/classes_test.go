package deploy_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

// objects returns a bundle whose project describes these classes: "Name" or "Name key".
func objects(t *testing.T, classes ...string) []byte {
	t.Helper()
	m := bundle.Manifest{Main: "index.js", Modules: []bundle.Module{{Name: "index.js", Type: bundle.ESModule}}, CompatibilityDate: "2026-11-01"}
	for _, c := range classes {
		name, key, renamed := strings.Cut(c, " ")
		if !renamed {
			key = name
		}
		m.ObjectClasses = append(m.ObjectClasses, bundle.ObjectClass{Name: name, Key: key, SQL: true, Described: true})
	}
	var b bytes.Buffer
	if _, err := bundle.Pack(&b, m, bundle.Tree{"modules/index.js": []byte(`export default {}`)}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestClassesOfTheParent: a deploy fails if it would leave the objects of the parent out of reach, and
// warns of those that exports does not name.
func TestClassesOfTheParent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.start(t, nil)
	deploy := func(id, parent string, classes ...string) svc.Version {
		t.Helper()
		w.upload(t, ref(id), objects(t, classes...))
		return d.run(t, d.submit(t, svc.NewVersion{ID: id, ParentID: parent}))
	}
	if v := deploy("v1", "", "Room", "User"); v.Status != svc.StatusReady {
		t.Fatal(v.Error)
	}
	v := deploy("v2", "v1", "Chat Room", "User")
	if v.Status != svc.StatusReady || len(v.Warnings) > 0 {
		t.Fatalf("%s, warnings %q", v.Error, v.Warnings)
	}
	if v := deploy("v3", "v2", "Chat"); v.Status != svc.StatusFailed || !strings.HasPrefix(v.Error, "fetching: object_class_differs: the class Chat of the parent was Room before") {
		t.Errorf("%s %q", v.Status, v.Error)
	}
	if v := deploy("v4", "v2", "Chat Room"); v.Status != svc.StatusReady || len(v.Warnings) != 1 || !strings.HasPrefix(v.Warnings[0], "exports does not name the class User of the parent") {
		t.Errorf("%s %q, warnings %q", v.Status, v.Error, v.Warnings)
	}
}
