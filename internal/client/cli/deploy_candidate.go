package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

const (
	maxID       = 63       // [D1]
	checkSuffix = "-check" // of the id of a candidate
	hashDigits  = 6
	// maxNames bounds the ids that a retry tries: each failed attempt uses one for good.
	maxNames = 20
)

// target is what a candidate is released as.
type target struct {
	id         string         // "" for a generated one
	production *api.Version   // it is production already, with the same code
	running    *api.Promotion // its release runs
}

// settled reports that no candidate is needed.
func (t target) settled() bool { return t.production != nil || t.running != nil }

// findTarget finds the id of the released version. An id is never used twice, so that --version v8
// becomes v8-2 after a release that failed.
func (d deployment) findTarget(ctx context.Context, project, digest string) (target, error) {
	if d.o.version == "" {
		return target{}, nil
	}
	for n := 1; n <= maxNames; n++ {
		id := numbered(d.o.version, n)
		v, err := d.c.Version(ctx, project, id)
		switch {
		case kit.ExitCode(err) == kit.ExitNotFound:
			return target{id: id}, nil
		case err != nil:
			return target{}, err
		case v.Status == api.VersionStatusFailed || v.Status == api.VersionStatusDestroyed && v.ReleasedFrom != "":
			d.k.Notef("%s/%s exists and is %s, and an id is never used twice: releasing as %s", project, id, v.Status, numbered(d.o.version, n+1))
			continue
		case v.ArtifactDigest != digest:
			return target{}, taken(id, "exists with another artifact_digest")
		case v.IsProduction:
			return target{id: id, production: &v}, nil
		}
		running, err := d.runningRelease(ctx, v)
		return target{id: id, running: running}, err
	}
	return target{}, taken(d.o.version, fmt.Sprintf("failed, and so did %d more of its name", maxNames-1))
}

// runningRelease is the release that makes v; an error if none runs.
func (d deployment) runningRelease(ctx context.Context, v api.Version) (*api.Promotion, error) {
	page, err := d.c.Promotions(ctx, v.ProjectID, client.Page{})
	if err != nil {
		return nil, err
	}
	for _, p := range page.Items {
		if p.VersionID == v.ID && p.Status == api.PromotionStatusRunning {
			return &p, nil
		}
	}
	return nil, svc.Errorf(svc.Conflict, svc.CodeVersionExists, "version %q exists and is not production", v.ID).
		WithHint("choose another --version, release it with svcctl release %s/%s, or go back to it with svcctl rollback", v.ProjectID, v.ID)
}

// create creates the candidate. One of an earlier attempt is used again if it is the same: the
// server compares the request.
func (r *candidate) create(ctx context.Context, creating creation, req api.CreateVersion) (accepted api.VersionAccepted, err error) {
	base := r.o.version
	if base == "" {
		base = svc.GeneratedID(time.Now())
	}
	for n := range maxNames {
		req.ID = candidateID(base, r.production+" "+req.ArtifactDigest, n)
		usable, err := r.usable(ctx, creating.built.Project, req)
		if err != nil {
			return accepted, err
		}
		if !usable {
			continue
		}
		accepted, err = creating.create(ctx, req)
		if client.CodeOf(err) == svc.CodeVersionExists { // with other variables
			continue
		}
		if err != nil {
			return accepted, err
		}
		r.j.accepted(accepted)
		if accepted.Status == api.VersionStatusReady {
			return accepted, nil
		}
		return accepted, creating.send(ctx, accepted)
	}
	return accepted, taken(candidateID(base, "", 0), "exists, and so do the other ids of a candidate")
}

// usable reports whether an id is free, or that of a candidate that can be released: of the same
// code, and rehearsed on today's production.
func (r *candidate) usable(ctx context.Context, project string, req api.CreateVersion) (bool, error) {
	v, err := r.c.Version(ctx, project, req.ID)
	if kit.ExitCode(err) == kit.ExitNotFound {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	switch v.Status {
	case api.VersionStatusFailed, api.VersionStatusDestroyed, api.VersionStatusArchived, api.VersionStatusDraining:
		return false, nil
	case api.VersionStatusPending, api.VersionStatusFetching, api.VersionStatusBranching, api.VersionStatusPreparing,
		api.VersionStatusDeploying, api.VersionStatusDeployReady, api.VersionStatusReady:
	}
	return (v.ArtifactDigest == "" || v.ArtifactDigest == req.ArtifactDigest) && parentOf(v) == r.production && !v.IsProduction, nil
}

// candidateID is the nth id of a candidate for the version id: ID-check, then ID-HASH-check. An id
// that is too long is cut, and has the hash.
func candidateID(id, salt string, n int) string {
	if n == 0 && len(id)+len(checkSuffix) <= maxID {
		return id + checkSuffix
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %d", id, salt, n))
	return cut(id, "-"+hex.EncodeToString(sum[:])[:hashDigits]+checkSuffix)
}

// numbered is the nth id of a released version: v8, v8-2, v8-3.
func numbered(id string, n int) string {
	if n == 1 {
		return id
	}
	return cut(id, fmt.Sprintf("-%d", n))
}

// cut is id with a suffix, cut before it to the longest id.
func cut(id, suffix string) string {
	return strings.TrimRight(id[:min(len(id), maxID-len(suffix))], "-") + suffix
}
