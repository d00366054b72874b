package load

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// message is what an echo sends, the length of a short chat line.
const message = "a message that comes back the same"

// echoes sends a message on a websocket and waits until it is back, over and over until end.
func (w Window) echoes(ctx context.Context, end time.Time) ([]time.Duration, error) {
	conn, err := w.openWebSocket(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	frame, answer := maskedFrame(message), make([]byte, 2+len(message))
	var times []time.Duration
	for {
		began := time.Now()
		if _, err := conn.conn.Write(frame); err != nil {
			return nil, err
		}
		if _, err := io.ReadFull(conn.in, answer); err != nil {
			return nil, err
		}
		now := time.Now()
		if !bytes.Equal(answer[2:], []byte(message)) {
			return nil, fmt.Errorf("echoed %q", answer)
		}
		times = append(times, now.Sub(began))
		if now.After(end) || ctx.Err() != nil {
			return times, ctx.Err()
		}
	}
}

// openWebSocket connects and does the handshake.
func (w Window) openWebSocket(ctx context.Context) (*Conn, error) {
	conn, err := Dial(ctx, w.Target, w.For+slack)
	if err != nil {
		return nil, err
	}
	err = conn.upgrade(fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", w.Path, w.Target.Host))
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

func (c *Conn) upgrade(request []byte) error {
	if _, err := c.conn.Write(request); err != nil {
		return err
	}
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close() // a 101 has none
	if resp.StatusCode != http.StatusSwitchingProtocols {
		return fmt.Errorf("the handshake was answered with %s", resp.Status)
	}
	return nil
}

// maskedFrame is a text message of up to 125 bytes as a client sends it. The mask of zeros
// changes nothing.
func maskedFrame(text string) []byte {
	const final, masked, opText = 0x80, 0x80, 1
	return append([]byte{final | opText, masked | byte(len(text)), 0, 0, 0, 0}, text...) //nolint:gosec // G115: up to 125
}

// Idle opens connections, makes one request on each and leaves them open until the call of
// closeAll.
func Idle(ctx context.Context, t Target, number int) (closeAll func(), err error) {
	var open []net.Conn
	closeAll = func() {
		for _, c := range open {
			_ = c.Close() // it was only read and written
		}
	}
	for range number {
		c, err := Dial(ctx, t, idleLimit)
		if err != nil {
			closeAll()
			return nil, err
		}
		open = append(open, c.conn)
		if status, _, err := c.Do(t.Get("/")); err != nil || status != http.StatusOK {
			closeAll()
			return nil, fmt.Errorf("answered %d: %w", status, err)
		}
	}
	return closeAll, nil
}

// idleLimit is the time after which idle connections end.
const idleLimit = 5 * time.Minute
