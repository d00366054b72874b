package bundle

import (
	"slices"
	"strconv"

	"github.com/svcctl/svcctl/internal/lib/cronexpr"
	"github.com/svcctl/svcctl/internal/svc"
)

// MaxCrons is the number of cron expressions that a version may have.
const MaxCrons = 100

// crons checks the expressions of Manifest.Crons.
func (p *problems) crons(m Manifest) {
	if len(m.Crons) > 0 && m.SchemaVersion == 1 {
		p.add("/crons", svc.CodeManifestInvalid, "a manifest of format 1 has no crons")
	}
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
