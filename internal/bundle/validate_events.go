package bundle

import (
	"slices"
	"strconv"

	"github.com/svcctl/svcctl/internal/lib/cronexpr"
	"github.com/svcctl/svcctl/internal/svc"
)

// MaxCrons is the number of cron expressions that a version may have.
const MaxCrons = 100

// maxTails is the number of tail consumers of a version.
const maxTails = 10

// tails checks Manifest.TailConsumers.
func (p *problems) tails(m Manifest) {
	if len(m.TailConsumers) > maxTails {
		p.add("/tail_consumers", svc.CodeManifestInvalid, "%d tail consumers; at most %d are allowed", len(m.TailConsumers), maxTails)
	}
	for i, c := range m.TailConsumers {
		at := "/tail_consumers/" + strconv.Itoa(i)
		if c.Service == "" || badText(c.Service) || badText(c.Version) {
			p.add(at, svc.CodeManifestInvalid, "want the name of a project, and of a version or preview if any")
		}
		if slices.ContainsFunc(m.TailConsumers[:i], func(o TailConsumer) bool { return o.Service == c.Service && o.Version == c.Version }) {
			p.add(at, svc.CodeManifestInvalid, "%q is listed twice", c.Service)
		}
	}
}

// crons checks the expressions of Manifest.Crons.
func (p *problems) crons(m Manifest) {
	if len(m.Crons) > MaxCrons {
		p.add("/crons", svc.CodeManifestInvalid, "%d cron expressions; at most %d are allowed", len(m.Crons), MaxCrons)
	}
	for i, text := range m.Crons {
		at := "/crons/" + strconv.Itoa(i)
		if _, err := cronexpr.Parse(text); err != nil {
			p.add(at, svc.CodeManifestInvalid, "%s", err)
		}
		if slices.Index(m.Crons, text) < i {
			p.add(at, svc.CodeManifestInvalid, "%q is listed twice", text)
		}
	}
}
