package httpapi

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/server/api/tokens"
	"github.com/svcctl/svcctl/internal/svc"
)

// Tokens are the operator's credentials. Legacy is the token of a role that has
// none. spec: [C15.2] [C15.3] [C15.4].
type Tokens struct {
	Deploy svc.Secret // SVC_DEPLOY_TOKEN
	Admin  svc.Secret // SVC_ADMIN_TOKEN
	Legacy svc.Secret // PLATFORM_TOKEN
	// Named returns the tokens of SVC_TOKENS_FILE, which are valid beside the others. Nil
	// for none.
	Named func() []svc.Token
	// Trouble returns why that file cannot be read, nil if it can. Nil without the file.
	Trouble func() *svc.TokensTrouble
}

// role is the permission that an operation requires.
type role string

const (
	roleNone   role = ""
	roleDeploy role = "deploy"
	roleAdmin  role = "admin"
	roleRead   role = "read" // of a named token; no operation requires it
	rolePoll   role = "poll" // of a poll ticket; no operation requires it
	roleAny    role = "any"  // of an operation: every token
)

// authenticator holds hashes of the tokens. Hashes have one length, so a comparison
// takes the same time for every token that is sent [D6].
type authenticator struct {
	deploy, admin [sha256.Size]byte
	named         func() []svc.Token
	tickets       pollTickets
}

// newAuthenticator returns an error if a role has no token. key signs poll tickets.
func newAuthenticator(t Tokens, key []byte) (authenticator, error) {
	t.Deploy = cmp.Or(t.Deploy, t.Legacy)
	t.Admin = cmp.Or(t.Admin, t.Legacy)
	if t.Deploy == "" || t.Admin == "" {
		return authenticator{}, errors.New("httpapi: both roles need a token: set SVC_DEPLOY_TOKEN and SVC_ADMIN_TOKEN, or PLATFORM_TOKEN")
	}
	if t.Named == nil {
		t.Named = func() []svc.Token { return nil }
	}
	return authenticator{hash(t.Deploy.Reveal()), hash(t.Admin.Reveal()), t.Named, pollTickets{key}}, nil
}

func hash(token string) [sha256.Size]byte { return sha256.Sum256([]byte(token)) }

// allow checks the request's token against the role that an operation requires. A
// token is valid for each role that has it. spec: [C15.5] [C15.6] [D6].
func (a authenticator) allow(r *http.Request, rule rule) error {
	need := rule.role
	if need == roleNone {
		return nil
	}
	token, ok := bearer(r)
	if !ok {
		return svc.Errorf(svc.Unauthorized, svc.CodeUnauthorized, "the operation requires a token").
			WithHint("send the header Authorization: Bearer with the %s token", need)
	}
	sum := hash(token)
	if need == roleAny {
		return a.identify(exchangeOf(r.Context()), sum)
	}
	isDeploy, isAdmin := a.has(sum, roleDeploy), a.has(sum, roleAdmin)
	if t, ok := a.find(sum, time.Now()); ok {
		return t.allow(exchangeOf(r.Context()), rule)
	}
	switch {
	case need == roleDeploy && isDeploy, need == roleAdmin && isAdmin:
		x := exchangeOf(r.Context())
		x.role = need
		x.actor = actorOf(need, sum)
		return nil
	case isDeploy:
		return svc.Errorf(svc.Forbidden, svc.CodeForbidden, "the deploy token may only create versions").
			WithHint("use the admin token")
	case isAdmin:
		return svc.Errorf(svc.Forbidden, svc.CodeForbidden, "the admin token may not create versions").WithHint("use the deploy token: svcctl login stores both tokens, or set SVCCTL_DEPLOY_TOKEN")
	}
	return a.tickets.allow(r, token, rule.ticket && (rule.query == nil || r.URL.RawQuery == ""))
}

// has reports whether the operator's token of a role has this hash.
func (a authenticator) has(sum [sha256.Size]byte, r role) bool {
	want := a.admin
	if r == roleDeploy {
		want = a.deploy
	}
	return subtle.ConstantTimeCompare(sum[:], want[:]) == 1
}

// actorOf is the actor with the operator's token of a role.
func actorOf(r role, sum [sha256.Size]byte) svc.AuditActor {
	return svc.AuditActor{Role: string(r), Token: string(r), Fingerprint: fingerprint(sum)}
}

// fingerprint names a token without revealing it.
func fingerprint(sum [sha256.Size]byte) string { return hex.EncodeToString(sum[:4]) }

// list returns all valid tokens: those of the operator, then the named ones.
func (a authenticator) list() []svc.Token {
	now := time.Now()
	all := []svc.Token{{Name: svc.RoleAdmin, Role: svc.RoleAdmin, Hash: a.admin}, {Name: svc.RoleDeploy, Role: svc.RoleDeploy, Hash: a.deploy}}
	for _, t := range a.named() {
		if !t.Expired(now) {
			all = append(all, t)
		}
	}
	return all
}

// named is a token of the file.
type named struct{ svc.Token }

// find returns the named token with this hash, unless it has expired.
func (a authenticator) find(sum [sha256.Size]byte, now time.Time) (found named, ok bool) {
	t, ok := tokens.Find(a.named(), sum, now)
	return named{t}, ok
}

// allow checks the role of a named token. spec: [C15.5] [C15.6].
func (t named) allow(x *exchange, rule rule) error {
	if has := role(t.Role); has != rule.role && (has != roleRead || rule.role != roleAdmin || !rule.reads) {
		return svc.Errorf(svc.Forbidden, svc.CodeForbidden, "the token %s has the role %s, which may not do this", t.Name, t.Role).
			WithHint("use a token with the role %s", rule.role)
	}
	x.role = role(t.Role)
	x.actor = svc.AuditActor{Role: t.Role, Token: t.Name, Fingerprint: fingerprint(t.Hash)}
	return nil
}

// bearer returns the token of a request with exactly one Authorization header.
func bearer(r *http.Request) (token string, ok bool) {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return "", false
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	token = strings.TrimSpace(token)
	return token, ok && strings.EqualFold(scheme, "Bearer") && token != ""
}
