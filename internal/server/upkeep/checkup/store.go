package checkup

import (
	"context"
	"errors"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// Store checks that the object store has the properties that data needs: creation only if
// absent, compare-and-set, exact ranges, current listings. It writes and deletes one small
// object below prefix.
func Store(b objstore.Bucket, prefix, name string) Check {
	return Check{"object store", func(ctx context.Context) svc.Finding {
		err := objstore.Probe(ctx, b, prefix)
		wrong, unsafe := errors.AsType[*objstore.ProbeError](err)
		switch {
		case err == nil:
			return svc.Found(svc.FindingOK, "%s keeps its preconditions", name)
		case unsafe:
			return svc.Found(svc.FindingFailed, "%s: %v", name, wrong).
				WithAdvice("use another object store: this one loses data. docs/guide/storage.md has the requirements")
		}
		return svc.Found(svc.FindingFailed, "%s does not answer: %v", name, err).
			WithAdvice("check S3_ENDPOINT, its keys, and the network between the server and the object store")
	}}
}
