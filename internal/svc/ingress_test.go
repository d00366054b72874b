package svc_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
)

func flat(t *testing.T, template string) *svc.Ingress {
	t.Helper()
	in, err := svc.NewIngress(svc.IngressConfig{BaseDomain: "apps.example.org", Port: 80, Template: template})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// TestTemplateSeparatesIDs: ids may hold single dashes and words like "in"; only
// "." and "--" separate two ids [D3].
func TestTemplateSeparatesIDs(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"{scheme}://{version}-in-{project}.{baseDomain}", "{scheme}://{project}-{version}.{baseDomain}", "{scheme}://v{version}x{project}.{baseDomain}",
	} {
		if _, err := svc.NewIngress(svc.IngressConfig{BaseDomain: "x.y", Template: bad}); err == nil || !strings.Contains(err.Error(), "apart") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	for _, good := range []string{
		"{scheme}://{project}--{version}.{baseDomain}", "{scheme}://pr-{version}.{project}.preview.example.com", "{scheme}://{version}-in--{project}.{baseDomain}",
	} {
		in, want := flat(t, good), svc.Ref{Project: "in-a", Version: "b-in"}
		if got, role, ok := in.ParseHost(in.PreviewHost(want)); !ok || got != want || role != svc.RolePreview {
			t.Errorf("%s: %v, %v, %v", good, got, role, ok)
		}
	}
}

func TestHostsAreDNSNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 40)
	for _, tc := range []struct {
		template string
		ref      svc.Ref
		code     string
	}{
		{"", svc.Ref{Project: strings.Repeat("p", 63), Version: strings.Repeat("v", 63)}, ""},
		{"{scheme}://{version}--{project}.{baseDomain}", svc.Ref{Project: "shop", Version: long}, ""},
		{"{scheme}://{version}--{project}.{baseDomain}", svc.Ref{Project: long, Version: long}, "host_too_long"},
		{"{scheme}://{version}--{project}.{baseDomain}", svc.Ref{Project: "shop", Version: "xn"}, "invalid_id"},
		{"{scheme}://{version}.{project}." + strings.Repeat("d.", 90) + "{baseDomain}", svc.Ref{Project: long, Version: long}, "host_too_long"},
	} {
		err := flat(t, tc.template).CheckHost(tc.ref)
		if got := svc.CodeOf(err); err != nil && got != tc.code || err == nil && tc.code != "" {
			t.Errorf("%s %s: %v, want %q", tc.template, tc.ref, err, tc.code)
		}
		if err != nil && !errors.Is(err, svc.Unprocessable) {
			t.Errorf("%v is of another kind", err)
		}
	}
}

func TestHostPattern(t *testing.T) {
	t.Parallel()
	for template, want := range map[string]string{
		"": "{version}.{project}.apps.example.org",
		"https://{version}--{project}.{baseDomain}:{port}/": "{version}--{project}.apps.example.org",
	} {
		if got := flat(t, template).HostPattern(); got != want {
			t.Errorf("%q: %s, want %s", template, got, want)
		}
	}
}
