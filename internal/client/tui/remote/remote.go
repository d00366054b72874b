package remote

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/pkg/client"
)

const (
	loadTimeout   = 30 * time.Second
	actionTimeout = 5 * time.Minute
	waiting       = 512 // messages of streams that wait for the screen
	batch         = 256 // messages that are passed on together
)

// Remote is the connection to one server.
type Remote struct {
	c       *client.Client
	ctx     context.Context //nolint:containedctx // of the whole connection; commands have none
	cancel  context.CancelFunc
	streams chan tea.Msg
	follows map[state.Need]context.CancelFunc // used by the frame's goroutine only
}

// Batch is what came from the streams, in order.
type Batch []tea.Msg

// Open follows the events of a server.
func Open(ctx context.Context, c *client.Client) *Remote {
	r := &Remote{c: c, streams: make(chan tea.Msg, waiting), follows: map[state.Need]context.CancelFunc{}}
	r.ctx, r.cancel = context.WithCancel(ctx)
	go r.events() //nolint:contextcheck // r.ctx is made of ctx
	return r
}

// Close ends the streams and running commands.
func (r *Remote) Close() { r.cancel() }

// Next waits for messages of the streams. The frame calls it again after each Batch.
func (r *Remote) Next() tea.Cmd {
	return func() tea.Msg {
		var list Batch
		select {
		case <-r.ctx.Done():
			return nil
		case m := <-r.streams:
			list = append(list, m)
		}
		for len(list) < batch {
			select {
			case m := <-r.streams:
				list = append(list, m)
				continue
			default:
			}
			break
		}
		return list
	}
}

// send passes a message of a stream on; false after Close.
func (r *Remote) send(ctx context.Context, m tea.Msg) bool {
	select {
	case r.streams <- m:
		return true
	case <-ctx.Done():
		return false
	}
}
