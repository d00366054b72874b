package control

import (
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Permit says for which host names a machine may admit requests to its version itself. It
// replaces the permit before.
//
// A permit is valid for a time that begins when the machine gave an answer, not when it got the
// permit: see Heard. So the daemon knows, without a message that could be late, a moment after
// which the machine admits nothing.
type Permit struct {
	Number     uint64        `json:"number"`     // higher than that of each permit before on this line
	Grants     []Grant       `json:"grants"`     // one for each role at most
	Generation uint64        `json:"generation"` // of the routes, for requests that are refused
	Limit      int           `json:"limit"`      // requests and websockets at the same time
	Heard      uint64        `json:"heard"`      // number of the last answer that the daemon has heard; 0 for none
	For        time.Duration `json:"for"`        // how long the permit is valid after that answer was given
	// Ending are grants that were revoked and whose requests the daemon waits for. The machine answers
	// when those of one of them have ended, after Wait at the latest.
	Ending []uint64      `json:"ending,omitempty"`
	Wait   time.Duration `json:"wait,omitempty"`
}

// Grant lets a machine admit requests for the host name of a role: production's, or the version's own.
type Grant struct {
	ID   uint64   `json:"id"` // a grant that ends and begins again has another one
	Role svc.Role `json:"role"`
}

// Admitted is the answer to a Permit.
type Admitted struct {
	Answer     uint64                     `json:"answer"`     // number of this answer
	Number     uint64                     `json:"number"`     // of the permit that holds
	Requests   map[uint64]int             `json:"requests"`   // in progress, by grant; those that were revoked included
	Roles      map[svc.Role]int           `json:"roles"`      // the same by role
	Websockets int                        `json:"websockets"` // that are open
	Total      map[svc.Role]uint64        `json:"total"`      // requests so far
	Used       map[svc.Role]time.Duration `json:"used"`       // how long ago the last one of them began
}

// Permit tells a host of another machine for which host names it may admit requests.
func (c *Client) Permit(ctx context.Context, p Permit) (Admitted, error) {
	return call[Permit, Admitted](ctx, c, "permit", p)
}
