package httpapi

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// A poll ticket is the credential that create-version returns, so that a pipeline
// needs only the deploy token: it reads the record of one version, and nothing else.
// It is "poll." base64url("project/version/unix-time") "." base64url(HMAC), so the
// service stores none.
const (
	ticketPrefix = "poll."
	// ticketLifetime is the time for a deploy to end, a long queue included.
	ticketLifetime = 24 * time.Hour
)

// pollTickets issues and checks poll tickets.
type pollTickets struct{ key []byte }

func (p pollTickets) issue(ref svc.Ref, now time.Time) *api.PollTicket {
	expires := now.Add(ticketLifetime)
	claim := base64.RawURLEncoding.EncodeToString([]byte(ref.String() + "/" + strconv.FormatInt(expires.Unix(), 10)))
	return &api.PollTicket{Token: ticketPrefix + claim + "." + p.sign(claim), ExpiresAt: api.At(expires)}
}

func (p pollTickets) sign(claim string) string {
	mac := hmac.New(sha256.New, p.key)
	mac.Write([]byte(ticketPrefix + claim)) // the key also signs upload tickets
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// check returns the version that a ticket is for; ok is false for a token that is no
// ticket of this service.
func (p pollTickets) check(token string, now time.Time) (ref svc.Ref, expired, ok bool) {
	claim, signature, _ := strings.Cut(strings.TrimPrefix(token, ticketPrefix), ".")
	if !strings.HasPrefix(token, ticketPrefix) || !hmac.Equal([]byte(signature), []byte(p.sign(claim))) {
		return svc.Ref{}, false, false
	}
	raw, err := base64.RawURLEncoding.DecodeString(claim)
	parts := strings.Split(string(raw), "/")
	if err != nil || len(parts) != 3 {
		return svc.Ref{}, false, false
	}
	expires, err := strconv.ParseInt(parts[2], 10, 64)
	return svc.Ref{Project: parts[0], Version: parts[1]}, now.Unix() > expires, err == nil
}

// allow checks a token that is neither the deploy nor the admin token. reads says
// whether the operation is one that tickets are for.
func (p pollTickets) allow(r *http.Request, token string, reads bool) error {
	ref, expired, ok := p.check(token, time.Now())
	switch {
	case !ok:
		return svc.Errorf(svc.Unauthorized, svc.CodeUnauthorized, "unknown token")
	case expired:
		return svc.Errorf(svc.Unauthorized, svc.CodeUnauthorized, "the poll ticket has expired").WithHint("use the admin token")
	case !reads || ref != svc.Ref{Project: r.PathValue("project"), Version: r.PathValue("version")}:
		return svc.Errorf(svc.Forbidden, svc.CodeForbidden, "the poll ticket may only read version %s", ref).WithHint("use the admin token")
	}
	exchangeOf(r.Context()).role = rolePoll
	return nil
}
