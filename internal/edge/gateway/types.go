package gateway

import (
	"github.com/svcctl/svcctl/internal/edge/gateway/conn"
	"github.com/svcctl/svcctl/internal/edge/gateway/exchange"
	"github.com/svcctl/svcctl/internal/edge/gateway/route"
)

// Machine is a machine that admits requests itself.
type Machine = route.Machine

// MachineUse is what a machine has admitted itself.
type MachineUse = route.MachineUse

// Relay is how a gateway reaches the runtimes of another machine.
type Relay = route.Relay

// Observer receives the events that metrics count.
type Observer = exchange.Observer

// Observation describes one request.
type Observation = exchange.Observation

// Access is an Observation with what an access log has besides.
type Access = exchange.Access

// Call is a connection to the runtime of a version, for a call of another worker.
type Call = exchange.Call

// Encrypted is a connection whose visitor uses https.
type Encrypted = conn.Encrypted

// StatusClientGone is the status of a request whose client closed its connection before
// the response.
const StatusClientGone = exchange.StatusClientGone
