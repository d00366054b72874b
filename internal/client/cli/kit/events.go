package kit

import (
	"encoding/json"
	"time"

	"github.com/svcctl/svcctl/internal/lib/text"
)

// event is one line of --json-events.
type event struct {
	Event string    `json:"event"`
	Time  time.Time `json:"time"`
	Data  any       `json:"data"`
}

// EventStage is the data of the events "stage" and "step".
type EventStage struct {
	Name       string `json:"name"`
	DurationMS int64  `json:"duration_ms"`
}

// Event writes one line to stdout with --json-events; else nothing. The kinds are
// stage (of this program), created, step (of the server), result and error.
func (k *Kit) Event(kind string, data any) {
	if !k.JSONEvents {
		return
	}
	line, err := json.Marshal(event{kind, time.Now().UTC().Truncate(time.Millisecond), data})
	if err != nil { // all data is plain
		line = []byte(`{"event":"error"}`)
	}
	_, _ = text.JSON(k.Out).Write(append(line, '\n')) // as Printf
}
