package janitor

import (
	"context"
	"time"
)

// domainsEvery is the time between two looks at the DNS texts of own host names.
const domainsEvery = 24 * time.Hour

// Rechecker looks at the proofs of own host names.
type Rechecker interface {
	Recheck(ctx context.Context) error
}

// Domains takes away the host names whose proof is gone.
func Domains(r Rechecker) Task {
	return Task{Name: "domains", Every: domainsEvery, RunOnce: r.Recheck}
}
