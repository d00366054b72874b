package svc

import (
	"net/netip"
	"strings"
	"time"
)

// DomainProof says why a project may have a host name.
type DomainProof string

// The proofs of a host name.
const (
	ProofNone     DomainProof = ""         // it is asked for, and not proved yet
	ProofDNS      DomainProof = "dns"      // a DNS text, which is looked for each day
	ProofOperator DomainProof = "operator" // the word of an operator, who has rights to all projects
)

// Domain is a host name of its own domain that a project asked for, or has.
type Domain struct {
	Project  string
	Host     string // as NormalDomain returns it
	Target   string // a version or a preview name; "" for production
	Redirect string // the host of the same project that visitors are sent to; "" for none
	Proof    DomainProof

	CreatedAt time.Time
	ProvedAt  time.Time // zero until it is proved: then the project has the host
	CheckedAt time.Time // when the DNS text was looked for last
	MissingAt time.Time // since when the DNS text of a proved host is missing; zero if it is not
}

// IsWildcard reports whether the domain stands for all hosts one label below another.
func (d Domain) IsWildcard() bool { return strings.HasPrefix(d.Host, "*.") }

// RecordName is the name of the DNS text that proves the domain.
func (d Domain) RecordName() string { return "_svcctl." + strings.TrimPrefix(d.Host, "*.") }

// Route returns what a gateway needs to serve the domain.
func (d Domain) Route() DomainRoute {
	return DomainRoute{Host: d.Host, Project: d.Project, Target: d.Target, Redirect: d.Redirect}
}

// DomainRoute makes a host name of its own domain a further name of a project.
type DomainRoute struct {
	Host     string `json:"host"` // in lower case; "*." and a domain for all hosts one label below it
	Project  string `json:"project"`
	Target   string `json:"target,omitempty"`   // a version or a preview name; "" for production
	Redirect string `json:"redirect,omitempty"` // the host that visitors are sent to; "" for none
}

// maxDomain leaves room for the label of the DNS text.
const maxDomain = 240

// NormalDomain returns a host name in the form in which it is stored and routed: lower case, without a
// final dot. A name with other letters is wanted in its ASCII form ("xn--…").
//
// Errors: Unprocessable, domain_invalid.
func NormalDomain(host string) (string, error) {
	host = strings.ToLower(strings.TrimSuffix(strings.TrimSpace(host), "."))
	name := strings.TrimPrefix(host, "*.")
	invalid := func(why string) error {
		return Errorf(Unprocessable, CodeDomainInvalid, "%q is no host name of a domain: %s", host, why).WithHint("name a host such as shop.example.com or *.example.com")
	}
	labels := strings.Split(name, ".")
	if len(labels) < 2 || len(name) > maxDomain {
		return "", invalid("want two to many labels and 240 characters at most")
	}
	for _, l := range labels {
		if !isLabel(l) {
			return "", invalid("its labels may have a-z, 0-9 and a hyphen inside, others in the ASCII form xn--")
		}
	}
	last := labels[len(labels)-1]
	if _, err := netip.ParseAddr(name); err == nil || strings.Trim(last, "0123456789") == "" || last == "localhost" || last == "arpa" {
		return "", invalid("an address, or a name of one machine")
	}
	return host, nil
}

// isLabel reports whether text is one part of a host name. An underscore is allowed by no authority.
func isLabel(text string) bool {
	if text == "" || len(text) > 63 || text[0] == '-' || text[len(text)-1] == '-' {
		return false
	}
	return strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// IsBelow reports whether host is domain, or a name below it. Both are in lower case.
func IsBelow(host, domain string) bool {
	return host == domain || strings.HasSuffix(host, "."+domain)
}
