package data

import (
	"errors"
	"fmt"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

var errGone = errors.New("the message is no longer among the next ones of the queue")

// messages lists the next messages of a queue.
func (c *Screen) messages(s *state.State, t *ui.Theme) content {
	q, ok, err := state.Get[state.QueueContent](s, c.need())
	out := content{loaded: ok, err: err, columns: []ui.Column{
		{Name: "SENT", Width: 8}, {Name: "STATE", Width: 8}, {Name: "TRIES", Width: 5, Right: true}, {Name: "FROM", Width: 14, Drop: 1}, {Name: "BODY", Width: 30, Flex: true},
	}}
	if ok {
		out.head = []string{queueLine(q.Queue, t)}
	}
	for _, m := range q.Messages {
		from := ""
		if m.DeadFrom != nil {
			from = *m.DeadFrom
		}
		out.rows = append(out.rows, ui.Row{ID: m.ID, Cells: []ui.Cell{
			ui.Num(m.SentAt.UTC().Format("15:04:05"), float64(m.SentAt.UnixMilli()), &t.Dim), ui.Text(string(m.State)), ui.Num(fmt.Sprint(m.Attempts), float64(m.Attempts)),
			ui.Text(from, &t.Dim), ui.Text(string(m.Body[:min(len(m.Body), 500)]), &t.Bold),
		}})
	}
	out.open = func(r ui.Row) ui.Intent { return c.open(message, c.arg[0], r.ID) }
	return out
}

// queueLine says what a queue has and does.
func queueLine(q api.Queue, t *ui.Theme) string {
	line := fmt.Sprintf(" %d ready, %d delayed, %d with the worker", q.Ready, q.Delayed, q.Inflight)
	if q.Consumer == nil {
		line += "; the worker does not receive them"
	} else {
		line += fmt.Sprintf("; %d done, %d retried, %d dead", q.Consumer.Acknowledged, q.Consumer.Retried, q.Consumer.Dead)
	}
	if q.Paused {
		return t.Warn.Render(" paused: H resumes ") + t.Dim.Render(line)
	}
	return t.Dim.Render(line)
}

// message returns the message that the level shows.
func (c *Screen) message(s *state.State) (api.Message, bool, error) {
	q, ok, err := state.Get[state.QueueContent](s, c.need())
	if !ok {
		return api.Message{}, false, err
	}
	for _, m := range q.Messages {
		if m.ID == c.arg[1] {
			return m, true, nil
		}
	}
	return api.Message{}, false, errGone
}
