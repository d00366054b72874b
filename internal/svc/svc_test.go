package svc_test

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// TestAsError: errors without a kind are Internal, except for a full disk.
func TestAsError(t *testing.T) {
	t.Parallel()
	for code, err := range map[string]error{
		"internal":  errors.New("boom"),
		"disk_full": fmt.Errorf("writing a file: %w", syscall.ENOSPC),
		"mine":      fmt.Errorf("saying more: %w", svc.Errorf(svc.Conflict, "mine", "no").Because(syscall.ENOSPC)),
	} {
		e := svc.AsError(err)
		if e.Code != code || !errors.Is(e, err) && code != "mine" {
			t.Errorf("%v is %q, %v", err, e.Code, e)
		}
		if code == "disk_full" && (e.Kind != svc.Unavailable || e.Hint == "" || e.RetryAfter == 0) {
			t.Errorf("a full disk is %+v", e)
		}
	}
}

// spec: [C4.8] [C7.8] [C9.11]
func TestEveryStatusAndTrigger(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, s := range svc.Statuses() {
		for _, e := range svc.Edges() {
			if to, err := s.After(e.Trigger); err == nil {
				fmt.Fprintf(&b, "%s %s %s\n", s, e.Trigger, to)
			} else if !errors.Is(err, svc.Conflict) {
				t.Errorf("%s after %s: %v is not a Conflict", s, e.Trigger, err)
			}
		}
	}
	const want = `pending fetch fetching
pending fail failed
pending destroy destroyed
fetching branch branching
fetching fail failed
fetching destroy destroyed
branching prepare preparing
branching fail failed
branching destroy destroyed
preparing deploy deploying
preparing fail failed
preparing destroy destroyed
deploying qualify deploy_ready
deploying activate ready
deploying fail failed
deploying wake_fail archived
deploying destroy destroyed
deploy_ready activate ready
deploy_ready fail failed
deploy_ready destroy destroyed
ready drain draining
ready archive archived
ready destroy destroyed
draining undrain ready
archived wake deploying
archived destroy destroyed
failed destroy destroyed
`
	if got := b.String(); got != want {
		t.Errorf("the state machine is\n%s\nwant\n%s", got, want)
	}
}

// spec: [C4.9] [C6.1] [C6.2] [C6.3]
func TestIngress(t *testing.T) {
	t.Parallel()
	def, err := svc.NewIngress(svc.IngressConfig{BaseDomain: "ingress.local", Port: 8787})
	if err != nil {
		t.Fatal(err)
	}
	flat, err := svc.NewIngress(svc.IngressConfig{
		BaseDomain: "Example.org", SchemePreview: "https", SchemeProd: "https", Port: 443,
		Template: "{scheme}://{version}--{project}.{baseDomain}:{port}",
	})
	if err != nil {
		t.Fatal(err)
	}
	v1 := svc.Ref{Project: "shop", Version: "v-1"}
	for _, tc := range []struct{ got, want string }{
		{def.PreviewURL(v1), "http://v-1.shop.ingress.local:8787"},
		{def.ProdURL("shop"), "http://shop.ingress.local:8787"},
		{flat.PreviewURL(v1), "https://v-1--shop.example.org"},
		{flat.ProdURL("shop"), "https://shop.example.org"},
		{flat.PreviewHost(v1), "v-1--shop.example.org"},
	} {
		if tc.got != tc.want {
			t.Errorf("got %s, want %s", tc.got, tc.want)
		}
	}
	for _, tc := range []struct {
		in   *svc.Ingress
		host string
		ref  svc.Ref
		role svc.Role
		ok   bool
	}{
		{def, "v-1.shop.ingress.local", v1, svc.RolePreview, true},
		{def, "V-1.Shop.INGRESS.local.:8787", v1, svc.RolePreview, true},
		{def, "shop.ingress.local", svc.Ref{Project: "shop"}, svc.RoleProduction, true},
		{flat, "v-1--shop.example.org", v1, svc.RolePreview, true},
		{flat, "shop.example.org", svc.Ref{Project: "shop"}, svc.RoleProduction, true},
		{def, "ingress.local", svc.Ref{}, "", false},
		{def, "a.b.shop.ingress.local", svc.Ref{}, "", false},
		{def, "shop.ingress.local.evil.example", svc.Ref{}, "", false},
		{def, "-.ingress.local", svc.Ref{}, "", false},
		{def, "127.0.0.1:8787", svc.Ref{}, "", false},
		{def, "", svc.Ref{}, "", false},
	} {
		ref, role, ok := tc.in.ParseHost(tc.host)
		if ok != tc.ok || ok && (ref != tc.ref || role != tc.role) {
			t.Errorf("ParseHost(%q) = %v, %v, %v", tc.host, ref, role, ok)
		}
	}
	for _, bad := range []string{"http://{version}.x", "{scheme}://{baseDomain}/{project}/{version}", "{version}{project}"} {
		if _, err := svc.NewIngress(svc.IngressConfig{BaseDomain: "x.y", Template: bad}); err == nil {
			t.Errorf("the template %q was accepted", bad)
		}
	}
}

func FuzzParseHost(f *testing.F) {
	in, err := svc.NewIngress(svc.IngressConfig{BaseDomain: "ingress.local", Port: 8787})
	if err != nil {
		f.Fatal(err)
	}
	f.Add("v-1.shop.ingress.local:8787")
	f.Add("shop.ingress.local.")
	f.Fuzz(func(t *testing.T, host string) {
		ref, role, ok := in.ParseHost(host)
		if !ok {
			return
		}
		back := in.ProdHost(ref.Project)
		if role == svc.RolePreview {
			back = in.PreviewHost(ref)
		}
		if again, r, ok := in.ParseHost(back); !ok || again != ref || r != role {
			t.Errorf("%q is %v (%s), whose host name %q parses as %v (%s)", host, ref, role, back, again, r)
		}
	})
}

// spec: [C5.9] [C5.11]
func TestCheckEnv(t *testing.T) {
	t.Parallel()
	many := map[string]string{}
	for i := range svc.MaxEnvKeys + 1 {
		many[fmt.Sprintf("K%d", i)] = "x"
	}
	for name, tc := range map[string]struct {
		env  map[string]string
		want string
	}{
		"good":     {map[string]string{"A_1": strings.Repeat("x", svc.MaxEnvValueSize)}, ""},
		"reserved": {map[string]string{"svc_X": ""}, "/env/svc_X env_reserved_key"},
		"runtime":  {map[string]string{"RUNTIME_X": ""}, "/env/RUNTIME_X env_reserved_key"},
		"platform": {map[string]string{"PROJECT_ID": ""}, "/env/PROJECT_ID env_platform_key"},
		"key":      {map[string]string{"a/b": ""}, "/env/a~1b env_invalid_key"},
		"value":    {map[string]string{"A": strings.Repeat("é", svc.MaxEnvValueSize/2+1)}, "/env/A env_value_too_large"},
		"many":     {many, "/env env_too_many_keys"},
	} {
		var got []string
		for _, e := range svc.CheckEnv(tc.env, "/env") {
			got = append(got, e.Pointer+" "+e.Code)
		}
		if strings.Join(got, ",") != tc.want {
			t.Errorf("%s: %v, want %s", name, got, tc.want)
		}
	}
}

func TestSecretNeverPrints(t *testing.T) {
	t.Parallel()
	s := svc.Secret("hunter2")
	if out := fmt.Sprintf("%v %s %#v %+v", s, s, s, struct{ T svc.Secret }{s}); strings.Contains(out, "hunter2") {
		t.Errorf("printed: %s", out)
	}
}

// TestBuildersCopy checks that the builders do not change their receiver.
func TestBuildersCopy(t *testing.T) {
	t.Parallel()
	sentinel := svc.Errorf(svc.Conflict, "busy", "it is busy")
	before := *sentinel
	made := sentinel.WithHint("wait %d s", 5).Because(io.EOF).At("/id").After(time.Second).Printed("log: hi")
	if !reflect.DeepEqual(before, *sentinel) {
		t.Errorf("the sentinel changed to %+v", *sentinel)
	}
	want := &svc.Error{
		Kind: svc.Conflict, Code: "busy", Detail: "it is busy", Hint: "wait 5 s", RetryAfter: time.Second, Err: io.EOF, Output: "log: hi",
		Fields: []svc.FieldError{{Pointer: "/id", Code: "busy", Detail: "it is busy"}},
	}
	if !reflect.DeepEqual(made, want) {
		t.Errorf("%+v, want %+v", made, want)
	}
}

func TestErrorText(t *testing.T) {
	t.Parallel()
	one, two := svc.FieldError{Pointer: "/id", Code: "c", Detail: "too long"}, svc.FieldError{Pointer: "/env", Code: "c", Detail: "too many"}
	for want, err := range map[string]error{
		"/id: too long": svc.Invalid([]svc.FieldError{one}),
		"2 fields are invalid; /id: too long; /env: too many": svc.Invalid([]svc.FieldError{one, two}),
		"refused; /id: too long: shorten it":                  (&svc.Error{Detail: "refused", Fields: []svc.FieldError{one}}).WithHint("shorten %s", "it"),
		"busy":                                                svc.Errorf(svc.Conflict, "busy", ""),
		"boom\nfinal output of the worker:\nlog: hi":          svc.Errorf(svc.Conflict, "busy", "boom").Printed("log: hi"),
	} {
		if got := err.Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
