package gateway

import (
	"github.com/svcctl/svcctl/internal/edge/gateway/conn"
	"github.com/svcctl/svcctl/internal/edge/gateway/exchange"
	"github.com/svcctl/svcctl/internal/edge/gateway/route"
)

// What callers of this package say and get, declared where it is used.
type (
	Machine    = route.Machine
	MachineUse = route.MachineUse
	Relay      = route.Relay

	Observer    = exchange.Observer
	Observation = exchange.Observation
	Access      = exchange.Access
	Call        = exchange.Call

	Encrypted = conn.Encrypted
)

// StatusClientGone is the status of a request whose client closed its connection before
// the response.
const StatusClientGone = exchange.StatusClientGone
