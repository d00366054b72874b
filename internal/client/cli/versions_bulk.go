package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// bulkOptions select many versions of a project for one verb.
type bulkOptions struct {
	labels   []string
	statuses []string
	ref      string
	older    string
	dryRun   bool
}

func (o *bulkOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&o.labels, "label", nil, "instead of VERSION: all versions with this label, NAME=VALUE or NAME; may be repeated")
	f.StringSliceVar(&o.statuses, "status", nil, "instead of VERSION: all versions with this status; may be repeated")
	f.StringVar(&o.ref, "ref", "", "instead of VERSION: all versions with this git ref")
	f.StringVar(&o.older, "older-than", "", "instead of VERSION: all versions that were created longer ago, such as 7d")
	f.BoolVar(&o.dryRun, "dry-run", false, "with a filter: show what would be done, without changes")
}

// on reports whether a filter was given.
func (o *bulkOptions) on() bool {
	return len(o.labels)+len(o.statuses) > 0 || o.ref != "" || o.older != ""
}

// check tells a VERSION from a filter.
func (o *bulkOptions) check(args []string) error {
	switch {
	case o.on() && len(args) > 0:
		return kit.Usagef("VERSION and a filter exclude each other")
	case !o.on() && len(args) == 0:
		return kit.Usagef("missing VERSION, or a filter: --label, --status, --ref or --older-than")
	case !o.on() && o.dryRun:
		return kit.Usagef("--dry-run is for a filter")
	}
	return nil
}

func (o *bulkOptions) request() (b api.BulkVersions, err error) {
	b = api.BulkVersions{Ref: o.ref}
	for _, s := range o.statuses {
		if !api.VersionStatus(s).Valid() {
			return b, kit.Usagef("unknown status %q", s)
		}
		b.Status = append(b.Status, api.VersionStatus(s))
	}
	if o.older != "" {
		age, err := config.Duration(o.older)
		if err != nil || age <= 0 {
			return b, kit.Usagef("--older-than must be a duration such as 7d")
		}
		b.OlderThan = age.String()
	}
	for _, label := range o.labels {
		if b.Labels == nil {
			b.Labels = map[string]*string{}
		}
		name, value, given := strings.Cut(label, "=")
		if b.Labels[name] = nil; given {
			b.Labels[name] = &value
		}
	}
	return b, nil
}

// filterVerb is what is done to the versions.
type filterVerb struct {
	what, done string // "destroy", "destroyed"
	call       func(c *client.Client, ctx context.Context, project string, b api.BulkVersions) (api.BulkReport, error)
}

// run asks for a confirmation with the number of versions unless yes is set.
func (o *bulkOptions) run(ctx context.Context, k *kit.Kit, verb filterVerb, project string, yes bool) error {
	project, err := projectOr(k, project)
	if err != nil {
		return err
	}
	b, err := o.request()
	if err != nil {
		return err
	}
	c, err := k.Client()
	if err != nil {
		return err
	}
	b.DryRun = true
	report, err := verb.call(c, ctx, project, b)
	if err != nil {
		return err
	}
	n := 0
	for _, r := range report.Items {
		if r.Code == "" {
			n++
		}
	}
	if !o.dryRun && n > 0 {
		if !yes {
			if err := k.Confirm(ctx, fmt.Sprintf("this would %s %d versions of %s", verb.what, n, project), project, "--yes"); err != nil {
				return err
			}
		}
		b.DryRun = false
		if report, err = verb.call(c, ctx, project, b); err != nil {
			return err
		}
	}
	return showBulk(k, report.Items, verb.done, o.dryRun)
}

// showBulk prints what became of each version. One that failed is an error.
func showBulk(k *kit.Kit, items []api.BulkResult, done string, dryRun bool) error {
	failed := 0
	err := k.Print(items, func() {
		for _, r := range items {
			switch {
			case r.Code != "":
				k.Printf("%s/%s left out: %s", r.ProjectID, r.VersionID, kit.Clean(r.Detail))
			case dryRun:
				k.Printf("%s/%s would be %s", r.ProjectID, r.VersionID, done)
			default:
				k.Printf("%s/%s is %s", r.ProjectID, r.VersionID, done)
				if r.Waiting != nil {
					k.Notef("%s of %s wait until it is woken", *r.Waiting, r.VersionID)
				}
			}
		}
		if len(items) == 0 {
			k.Notef("no version matches")
		}
	})
	for _, r := range items {
		switch r.Code {
		case "", svc.CodeVersionIsProduction, svc.CodeVersionPinned, svc.CodeVersionNotReady:
		default:
			failed++
		}
	}
	if err == nil && failed > 0 {
		return fmt.Errorf("%d versions could not be %s", failed, done)
	}
	return err
}
