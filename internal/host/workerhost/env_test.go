package workerhost

import (
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

// spec: [C5.7] [C5.8] [C5.18]
func TestVariables(t *testing.T) {
	t.Parallel()
	m := &bundle.Manifest{
		Vars:     map[string]bundle.Var{"B": bundle.TextVar("bundle"), "J": {JSON: []byte(`{"a":1}`)}, "PROJECT_ID": bundle.TextVar("forged")},
		Bindings: []bundle.Binding{{Name: "DB", Kind: "database"}},
	}
	ref := svc.Ref{Project: "shop", Version: "v-1"}
	bindings, err := variables(m, svc.RuntimeSpec{Ref: ref, Env: map[string]string{"B": "override", "A": `{"not":"json"}`}})
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, b := range bindings {
		if b.JSON != nil {
			got.WriteString(b.Name + " json " + *b.JSON + "\n")
		} else {
			got.WriteString(b.Name + " text " + *b.Text + "\n")
		}
	}
	const want = "A text {\"not\":\"json\"}\nB text override\nJ json {\"a\":1}\nPROJECT_ID text shop\nVERSION_ID text v-1\n"
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
	if m.Vars["B"].Text == nil || *m.Vars["B"].Text != "bundle" {
		t.Error("the manifest was changed")
	}
	stored := &bundle.Manifest{Bindings: []bundle.Binding{{Name: "KEY", Kind: "store_secret", Resource: "KEY"}}}
	if bindings, err = variables(stored, svc.RuntimeSpec{Ref: ref, Env: map[string]string{"KEY": "x"}}); err != nil || len(bindings) != 2 {
		t.Errorf("the value of a stored secret: %v, %v", bindings, err)
	}
	_, err = variables(m, svc.RuntimeSpec{Ref: ref, Env: map[string]string{"DB": "secret-value"}})
	if svc.CodeOf(err) != "env_shadows_binding" || strings.Contains(err.Error(), "secret-value") {
		t.Errorf("an override over a binding: %v", err)
	}
}

// TestVariablesSecrets: a secret fills a name that nothing else has, and is a value that no log shows.
// spec: [C5.7]
func TestVariablesSecrets(t *testing.T) {
	t.Parallel()
	m := &bundle.Manifest{
		Vars:     map[string]bundle.Var{"B": bundle.TextVar("bundle")},
		Bindings: []bundle.Binding{{Name: "DB", Kind: "database"}, {Name: "STORED", Kind: "store_secret", Resource: "KEY"}},
		Assets:   &bundle.Assets{Binding: "FILES"},
	}
	spec := svc.RuntimeSpec{
		Ref: svc.Ref{Project: "shop", Version: "v-1"}, Env: map[string]string{"O": "override"},
		Secrets: map[string]string{"B": "secret", "O": "secret", "DB": "secret", "FILES": "secret", "PROJECT_ID": "secret", "KEY": "stored", "S": "sealed"},
	}
	bindings, err := variables(m, spec)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, b := range bindings {
		got.WriteString(b.Name + "=" + *b.Text + " ")
	}
	if got.String() != "B=bundle O=override PROJECT_ID=shop S=sealed VERSION_ID=v-1 " {
		t.Errorf("got %s", got.String())
	}
	if values := spec.Values(); values["S"] != "sealed" || values["O"] != "override" || values["KEY"] != "stored" {
		t.Errorf("values %v", values)
	}
}
