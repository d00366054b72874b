package tui

import (
	"fmt"

	"github.com/svcctl/svcctl/internal/client/tui/state"
)

// bulk is one verb for several versions: the results are reported together, so that the
// success of one does not hide the failure of another.
type bulk struct {
	verb   state.Verb
	total  int
	left   map[state.Action]bool
	failed []string
}

func newBulk(actions []state.Action) *bulk {
	b := &bulk{verb: actions[0].Verb, total: len(actions), left: map[state.Action]bool{}}
	for _, a := range actions {
		b.left[a] = true
	}
	return b
}

// ended takes the end of one action of the bulk.
func (m *Model) ended(d state.Done) {
	b := m.bulk
	delete(b.left, d.Action)
	if d.Err != nil {
		b.failed = append(b.failed, d.Action.Target()+": "+describe(d.Err))
	}
	text := fmt.Sprintf("%s: %d of %d done", b.verb, b.total-len(b.left)-len(b.failed), b.total)
	if len(b.failed) == 0 {
		m.say(text)
	} else {
		m.fail(fmt.Sprintf("%s, %d failed: %s", text, len(b.failed), b.failed[0]))
	}
	if len(b.left) == 0 {
		m.bulk = nil
	}
}
