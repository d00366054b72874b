package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// Tokens are the operator's credentials. Legacy stands in for the one that is
// not set. spec: Authentication, 2 and 3.
type Tokens struct {
	Deploy svc.Secret // SVC_DEPLOY_TOKEN
	Admin  svc.Secret // SVC_ADMIN_TOKEN
	Legacy svc.Secret // PLATFORM_TOKEN
}

// role is what a token may do.
type role string

const (
	roleNone   role = ""
	roleDeploy role = "deploy"
	roleAdmin  role = "admin"
)

// authenticator knows the tokens by their hashes, which have one length: so a
// comparison takes the same time for every token that is sent [D6].
type authenticator struct{ deploy, admin [sha256.Size]byte }

// newAuthenticator settles the tokens of both roles. One that has no token at
// all is refused: nobody could use it, or everybody.
func newAuthenticator(t Tokens) (authenticator, error) {
	if t.Deploy == "" {
		t.Deploy = t.Legacy
	}
	if t.Admin == "" {
		t.Admin = t.Legacy
	}
	if t.Deploy == "" || t.Admin == "" {
		return authenticator{}, errors.New("httpapi: both roles need a token: set SVC_DEPLOY_TOKEN and SVC_ADMIN_TOKEN, or PLATFORM_TOKEN")
	}
	return authenticator{hash(t.Deploy.Reveal()), hash(t.Admin.Reveal())}, nil
}

func hash(token string) [sha256.Size]byte { return sha256.Sum256([]byte(token)) }

// allow checks the request's token against the role an operation needs. When
// both roles have one token it is right for both; when they differ, each is
// right for its own only. spec: Authentication, 4 and 5; [D6].
func (a authenticator) allow(r *http.Request, need role) error {
	if need == roleNone {
		return nil
	}
	token, ok := bearer(r)
	if !ok {
		return svc.Errorf(svc.Unauthorized, "unauthorized", "this needs a token").
			WithHint("send the header Authorization: Bearer with the %s token", need)
	}
	sum := hash(token)
	isDeploy := subtle.ConstantTimeCompare(sum[:], a.deploy[:]) == 1
	isAdmin := subtle.ConstantTimeCompare(sum[:], a.admin[:]) == 1
	switch {
	case need == roleDeploy && isDeploy, need == roleAdmin && isAdmin:
		exchangeOf(r.Context()).role = need
		return nil
	case isDeploy:
		return svc.Errorf(svc.Forbidden, "forbidden", "the deploy token may create versions and nothing else").
			WithHint("use the admin token")
	case isAdmin:
		return svc.Errorf(svc.Forbidden, "forbidden", "the admin token may not create versions").WithHint("use the deploy token")
	}
	return svc.Errorf(svc.Unauthorized, "unauthorized", "the service does not know this token")
}

// bearer reads the one Authorization header of a request.
func bearer(r *http.Request) (token string, ok bool) {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return "", false
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	token = strings.TrimSpace(token)
	return token, ok && strings.EqualFold(scheme, "Bearer") && token != ""
}
