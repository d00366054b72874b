package gateway

import "github.com/svcctl/svcctl/internal/edge/gateway/route"

// What callers of this package say and get, declared where it is used.
type (
	Machine    = route.Machine
	MachineUse = route.MachineUse
	Relay      = route.Relay
)
