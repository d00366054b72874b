package systemd

import (
	"context"
	"net"
	"strconv"
	"strings"
	"time"
)

// Manager is the service manager that started this process.
type Manager struct {
	socket   string
	watchdog time.Duration // 0 for none
}

// NewManager reads NOTIFY_SOCKET and WATCHDOG_USEC.
func NewManager(environ []string, pid int) Manager {
	values := map[string]string{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		values[name] = value
	}
	m := Manager{socket: values["NOTIFY_SOCKET"]}
	usec, err := strconv.ParseInt(values["WATCHDOG_USEC"], 10, 64)
	if of := values["WATCHDOG_PID"]; err == nil && (of == "" || of == strconv.Itoa(pid)) {
		m.watchdog = time.Duration(usec) * time.Microsecond
	}
	return m
}

// Ready reports that this process serves, and that the watchdog has its own interval.
func (m Manager) Ready() { m.Tell("READY=1" + m.interval(m.watchdog)) }

// Extend has the watchdog wait for limit, until the next Ready: while this process cannot
// answer it.
func (m Manager) Extend(limit time.Duration) { m.Tell("WATCHDOG=1" + m.interval(limit)) }

// interval is the line of a state that sets the interval of the watchdog, if there is one.
func (m Manager) interval(d time.Duration) string {
	if m.watchdog <= 0 {
		return ""
	}
	return "\nWATCHDOG_USEC=" + strconv.FormatInt(d.Microseconds(), 10)
}

// tellTime is how long a manager may take to receive a state.
const tellTime = 10 * time.Second

// Tell sends a state: READY=1, STOPPING=1, WATCHDOG=1. Errors are ignored: a manager
// that does not listen cannot be told so. It waits for a busy manager, 10 seconds at most.
func (m Manager) Tell(state string) {
	m.tell(context.Background(), state) //nolint:forbidigo // the last states follow the end of the context
}

// tell is Tell that waits no longer than ctx.
func (m Manager) tell(ctx context.Context, state string) {
	if m.socket == "" {
		return
	}
	name := m.socket
	if name[0] == '@' {
		name = "\x00" + name[1:] // an abstract socket of Linux
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		return
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, tellTime)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = c.SetWriteDeadline(time.Now()) })()
	_, _ = c.Write([]byte(state))
}

// Watch answers the manager's watchdog until ctx ends, three times in its interval, as
// long as healthy returns true.
func (m Manager) Watch(ctx context.Context, healthy func(context.Context) bool) {
	if m.watchdog <= 0 {
		return
	}
	tick := time.NewTicker(m.watchdog / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if healthy(ctx) {
				m.tell(ctx, "WATCHDOG=1")
			}
		}
	}
}
