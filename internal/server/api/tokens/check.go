package tokens

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Find returns the token with this hash, unless it has expired. It compares with each token, so that its
// time does not depend on them.
func Find(list []svc.Token, sum [sha256.Size]byte, now time.Time) (found svc.Token, ok bool) {
	for _, t := range list {
		if subtle.ConstantTimeCompare(sum[:], t.Hash[:]) == 1 && !t.Expired(now) {
			found, ok = t, true
		}
	}
	return found, ok
}

// Has reports whether bearer is a token of the role that has not expired.
func Has(list []svc.Token, role, bearer string, now time.Time) bool {
	t, ok := Find(list, sha256.Sum256([]byte(bearer)), now)
	return ok && t.Role == role
}

// OnlyGateways answers 401 or 403 to requests without a token of the role gateway.
func OnlyGateways(list func() []svc.Token, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !ok {
			http.Error(w, "send the header Authorization: Bearer with a token of the role gateway", http.StatusUnauthorized)
			return
		}
		if !Has(list(), svc.RoleGateway, token, time.Now()) {
			http.Error(w, "the token lacks the role gateway or has expired", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
