package domain

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

const (
	// grace is how long a host serves whose DNS text is missing.
	grace = 7 * 24 * time.Hour
	// lookupLimit bounds one look at the DNS.
	lookupLimit = 10 * time.Second
)

// Text returns the DNS text that proves a host for a project. It depends on both, so that it is worthless
// for another project; it is stored nowhere, so that it can be written in advance.
func (s *Service) Text(d svc.Domain) string {
	m := hmac.New(sha256.New, []byte(s.cfg.Key.Reveal()))
	fmt.Fprintf(m, "domain 1\x00%s\x00%s", d.Project, d.Host)
	return "svcctl=" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(m.Sum(nil)[:16]))
}

// Verify looks for the DNS text of a host, and gives the host to the project if it is there.
//
// Errors: NotFound, project_not_found or domain_not_found; Conflict, domain_not_proved or domain_taken.
func (s *Service) Verify(ctx context.Context, project, host string) (svc.Domain, error) {
	d, err := s.Get(ctx, project, host)
	if err != nil || d.Proof == svc.ProofOperator {
		return d, err
	}
	found, err := s.look(ctx, d)
	if err != nil {
		return d, svc.Errorf(svc.Conflict, svc.CodeDomainNotProved, "the DNS did not answer for %s", d.RecordName()).WithHint("try again later").Because(err)
	}
	if !found {
		return d, svc.Errorf(svc.Conflict, svc.CodeDomainNotProved, "%s has no TXT record %q", d.RecordName(), s.Text(d)).
			WithHint("write it at the DNS of the domain, wait until it is visible, and verify again")
	}
	if d, err = s.cfg.Records.ProveDomain(ctx, d.Project, d.Host, svc.ProofDNS); err != nil {
		return d, err
	}
	return d, s.Publish(ctx)
}

// look reports whether the DNS has the text of a host. An error says that the DNS did not answer.
func (s *Service) look(ctx context.Context, d svc.Domain) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupLimit)
	defer cancel()
	texts, err := s.cfg.DNS.LookupTXT(ctx, d.RecordName())
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.IsNotFound {
		return false, nil
	}
	return slices.Contains(texts, s.Text(d)), err
}

// Recheck looks for the DNS texts of all hosts that were proved by them, and takes away those whose text is
// missing for longer than a week. A DNS that does not answer changes nothing. It tries all and joins the errors.
func (s *Service) Recheck(ctx context.Context) error {
	all, err := s.cfg.Records.ProvedDomains(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, d := range all {
		if d.Proof == svc.ProofDNS {
			errs = append(errs, s.recheck(ctx, d))
		}
	}
	return errors.Join(append(errs, s.Publish(ctx))...)
}

func (s *Service) recheck(ctx context.Context, d svc.Domain) error {
	found, err := s.look(ctx, d)
	if err != nil {
		s.cfg.Logger.WarnContext(ctx, "the DNS did not answer for a domain; nothing changes", "host", d.Host, "error", err)
		return nil
	}
	if found {
		_, err = s.cfg.Records.ProveDomain(ctx, d.Project, d.Host, svc.ProofDNS)
		return err
	}
	lost := !d.MissingAt.IsZero() && time.Since(d.MissingAt) > grace
	if _, err = s.cfg.Records.MissDomain(ctx, d.Project, d.Host, lost); err != nil {
		return err
	}
	if lost {
		s.cfg.Logger.ErrorContext(ctx, "a domain is lost: its DNS text was missing for a week", "host", d.Host, "project", d.Project)
		return nil
	}
	s.cfg.Logger.WarnContext(ctx, "the DNS text of a domain is missing; the domain is lost after a week", "host", d.Host, "project", d.Project, "record", d.RecordName())
	return nil
}
