package svc

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// DefaultPreviewTemplate is the template of preview URLs in the contract.
const DefaultPreviewTemplate = "{scheme}://{version}.{project}.{baseDomain}:{port}"

// Role says whether a host name is a preview's or production's.
type Role string

// The roles of a host name.
const (
	RolePreview    Role = "preview"
	RoleProduction Role = "production"
)

// Ingress builds the public URLs of versions and parses host names. Both use one
// template, so every URL that is printed is also routed [D3].
// The zero value is not usable: call NewIngress. Safe for concurrent use.
type Ingress struct {
	baseDomain    string
	schemePreview string
	schemeProd    string
	port          int // the gateway's public port
	template      string
	preview       *regexp.Regexp // of the host name, lower case
}

// IngressConfig holds the operator's settings for public URLs.
type IngressConfig struct {
	BaseDomain    string `json:"base_domain"`    // SVC_INGRESS_BASE_DOMAIN
	SchemePreview string `json:"scheme_preview"` // SVC_PUBLIC_SCHEME_PREVIEW
	SchemeProd    string `json:"scheme_prod"`    // SVC_PUBLIC_SCHEME_PROD
	Port          int    `json:"port"`           // in URLs, unless it is the default port of their scheme; 0 for that port
	Template      string `json:"template"`       // SVC_PREVIEW_URL_TEMPLATE; "" for the contract's
}

// NewIngress returns the Ingress of c, or an error if its template is invalid.
func NewIngress(c IngressConfig) (*Ingress, error) {
	c.Template = cmp.Or(c.Template, DefaultPreviewTemplate)
	for _, p := range []string{"{version}", "{project}"} {
		if !strings.Contains(c.Template, p) {
			return nil, fmt.Errorf("the preview URL template %q must hold %s", c.Template, p)
		}
	}
	in := &Ingress{
		baseDomain: normalHost(c.BaseDomain), schemePreview: orHTTP(c.SchemePreview), schemeProd: orHTTP(c.SchemeProd),
		port: c.Port, template: c.Template,
	}
	return in, in.compile()
}

func orHTTP(scheme string) string {
	return cmp.Or(scheme, "http")
}

// compile turns the template's host name into a pattern and checks that the host
// name of a version parses as that version.
func (in *Ingress) compile() error {
	u, err := url.Parse(in.PreviewURL(Ref{"pppp", "vvvv"}))
	if err != nil || u.Host == "" {
		return fmt.Errorf("the preview URL template %q does not give a URL", in.template)
	}
	if err := in.separates(normalHost(u.Host)); err != nil {
		return err
	}
	pattern := regexp.QuoteMeta(normalHost(u.Host))
	// "--" cannot be inside an id, so {version}--{project} parses in one way only [D1].
	const label = `[a-z0-9](?:-?[a-z0-9])*`
	pattern = strings.Replace(pattern, "vvvv", "(?P<version>"+label+")", 1)
	pattern = strings.Replace(pattern, "pppp", "(?P<project>"+label+")", 1)
	if in.preview, err = regexp.Compile("^" + pattern + "$"); err != nil {
		return fmt.Errorf("the preview URL template %q: %w", in.template, err)
	}
	want := Ref{"a-b", "v-1"}
	if u, err = url.Parse(in.PreviewURL(want)); err != nil {
		return fmt.Errorf("the preview URL template %q: %w", in.template, err)
	}
	if got, _, ok := in.ParseHost(u.Host); !ok || got != want {
		return fmt.Errorf("the preview URL template %q is ambiguous: its host names do not parse as their version", in.template)
	}
	return nil
}

// separates checks that the template gives different versions different host
// names: ids hold neither "." nor "--" [D1], so one of these must be between them.
func (in *Ingress) separates(host string) error {
	v, p := strings.Index(host, "vvvv"), strings.Index(host, "pppp")
	if v < 0 || p < 0 {
		return fmt.Errorf("the preview URL template %q must hold version and project in the host name", in.template)
	}
	between := host[min(v, p)+len("vvvv") : max(v, p)]
	if !strings.Contains(between, ".") && !strings.Contains(between, "--") {
		return fmt.Errorf("the preview URL template %q does not keep version and project apart: put \".\" or \"--\" between them", in.template)
	}
	return nil
}

// CheckHost returns nil if the preview host name of r is a valid DNS name, else
// Unprocessable host_too_long or invalid_id. A template that puts both ids into
// one label can make it too long.
func (in *Ingress) CheckHost(r Ref) error {
	const maxLabel, maxName = 63, 253
	host := in.PreviewHost(r)
	label := 0
	for part := range strings.SplitSeq(host, ".") {
		label = max(label, len(part))
		if strings.HasPrefix(part, "xn--") {
			return Errorf(Unprocessable, CodeInvalidID, "the preview host name %s would be an encoded (xn--) name", host).
				WithHint("choose another id")
		}
	}
	if label > maxLabel || len(host) > maxName {
		return Errorf(Unprocessable, CodeHostTooLong, "the preview host name %s is too long: DNS allows %d bytes, and %d between two dots",
			host, maxName, maxLabel).WithHint("choose shorter ids")
	}
	return nil
}

// HostPattern returns the form of preview host names, for people.
func (in *Ingress) HostPattern() string {
	host := strings.NewReplacer("{scheme}", in.schemePreview, ":{port}", "", "{baseDomain}", in.baseDomain).Replace(in.template)
	if _, rest, ok := strings.Cut(host, "://"); ok {
		host = rest
	}
	host, _, _ = strings.Cut(host, "/")
	return host
}

// BaseDomain returns the DNS suffix of every host name.
func (in *Ingress) BaseDomain() string { return in.baseDomain }

// PreviewURL returns the URL of a version.
func (in *Ingress) PreviewURL(r Ref) string {
	port := in.portSuffix(in.schemePreview)
	t := in.template
	if port == "" {
		t = strings.ReplaceAll(t, ":{port}", "")
	}
	return strings.NewReplacer(
		"{scheme}", in.schemePreview, "{version}", r.Version, "{project}", r.Project,
		"{baseDomain}", in.baseDomain, "{port}", strings.TrimPrefix(port, ":"),
	).Replace(t)
}

// ProdURL returns the URL of a project's production.
func (in *Ingress) ProdURL(project string) string {
	return in.schemeProd + "://" + in.ProdHost(project) + in.portSuffix(in.schemeProd)
}

// DomainURL returns the URL of an own host name of a project.
func (in *Ingress) DomainURL(host string) string {
	return in.schemeProd + "://" + host + in.portSuffix(in.schemeProd)
}

// PreviewHost returns the host name of a version, without a port.
func (in *Ingress) PreviewHost(r Ref) string {
	u, err := url.Parse(in.PreviewURL(r))
	if err != nil {
		return "" // NewIngress has checked that the template gives a URL
	}
	return normalHost(u.Host)
}

// ProdHost returns the host name of a project's production, without a port.
func (in *Ingress) ProdHost(project string) string { return project + "." + in.baseDomain }

func (in *Ingress) portSuffix(scheme string) string {
	if in.port == 0 || in.port == 80 && scheme == "http" || in.port == 443 && scheme == "https" {
		return ""
	}
	return ":" + strconv.Itoa(in.port)
}

// ParseHost returns the version or project that a Host header names, and its
// role. Case, a port and a trailing dot do not matter [D3]. ok is false for any
// other host name; Ref.Version is "" for production.
func (in *Ingress) ParseHost(host string) (ref Ref, role Role, ok bool) {
	host = normalHost(host)
	if m := in.preview.FindStringSubmatch(host); m != nil {
		ref = Ref{m[in.preview.SubexpIndex("project")], m[in.preview.SubexpIndex("version")]}
		return ref, RolePreview, CheckID(ref.Project) == nil && CheckID(ref.Version) == nil
	}
	project, ok := strings.CutSuffix(host, "."+in.baseDomain)
	return Ref{Project: project}, RoleProduction, ok && CheckID(project) == nil
}

// normalHost returns host in lower case without port and trailing dot.
func normalHost(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}
