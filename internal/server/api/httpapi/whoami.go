package httpapi

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/svcctl/svcctl/internal/server/api/httpapi/oas"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// identity is what a token may do.
type identity struct {
	roles   []role
	expires time.Time // zero for never
}

// identify accepts every valid token, for an operation of any role.
func (a authenticator) identify(x *exchange, sum [sha256.Size]byte) error {
	if t, ok := a.find(sum, time.Now()); ok {
		x.identity = identity{roles: []role{role(t.Role)}, expires: t.Expires}
		return t.allow(x, rule{role: role(t.Role)})
	}
	for _, r := range []role{roleAdmin, roleDeploy} {
		if a.has(sum, r) {
			x.role = r
			x.identity.roles = append(x.identity.roles, r)
			x.actor = actorOf(r, sum)
		}
	}
	if x.role == roleNone {
		return svc.Errorf(svc.Unauthorized, svc.CodeUnauthorized, "unknown token")
	}
	return nil
}

// GetWhoami answers GET /whoami.
func (h handlers) GetWhoami(ctx context.Context, _ oas.GetWhoamiRequestObject) (oas.GetWhoamiResponseObject, error) {
	x := exchangeOf(ctx)
	return oas.GetWhoami200JSONResponse{
		Roles: each(x.identity.roles, func(r role) api.WhoamiRoles { return api.WhoamiRoles(r) }),
		Token: x.actor.Token, Fingerprint: x.actor.Fingerprint, ExpiresAt: api.MaybeAt(x.identity.expires),
	}, nil
}
