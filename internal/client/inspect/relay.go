package inspect

import (
	"context"
	"net/http"
	"time"

	"github.com/coder/websocket"
)

// relay passes messages on until one side closes, or another version serves.
func (p *Proxy) relay(rw http.ResponseWriter, r *http.Request, w *worker) {
	t := w.target
	version, resp, err := websocket.Dial(r.Context(), "ws://"+t.Address()+"/"+t.Session, nil)
	if err != nil {
		p.logger.DebugContext(r.Context(), "the inspector does not answer", "worker", w.id, "error", err)
		http.Error(rw, "the inspector of the worker does not answer", http.StatusBadGateway)
		return
	}
	if resp.Body != nil {
		defer resp.Body.Close()
	}
	defer func() { _ = version.CloseNow() }()                                                    // it may be closed already
	debugger, err := websocket.Accept(rw, r, &websocket.AcceptOptions{InsecureSkipVerify: true}) // fromDebugger has checked the origin
	if err != nil {
		return
	}
	defer func() { _ = debugger.CloseNow() }() // as above
	for _, c := range []*websocket.Conn{version, debugger} {
		c.SetReadLimit(-1) // a message may hold a script or a heap snapshot
	}
	ctx := context.WithoutCancel(r.Context()) // a Read that is canceled closes its connection
	over := make(chan struct{}, 2)
	go func() { forward(ctx, version, debugger, nil); over <- struct{}{} }()
	go func() { forward(ctx, debugger, version, t.Scripts.rewrite); over <- struct{}{} }()
	select {
	case <-w.ended:
		_ = debugger.Close(websocket.StatusServiceRestart, "another version serves")
	case <-over:
	}
	detach(ctx, version)
}

// release removes all breakpoints and has a worker continue that is held at one.
const release = `{"id":1073741824,"method":"Debugger.disable"}`

// detach ends the session at workerd, which holds a worker even when its debugger is gone.
func detach(ctx context.Context, version *websocket.Conn) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if version.Write(ctx, websocket.MessageText, []byte(release)) == nil {
		_ = version.Close(websocket.StatusNormalClosure, "")
	}
}

// forward sends what from receives to to, changed by change unless it is nil.
func forward(ctx context.Context, to, from *websocket.Conn, change func([]byte) []byte) {
	for {
		kind, data, err := from.Read(ctx)
		if err != nil {
			return
		}
		if change != nil {
			data = change(data)
		}
		if to.Write(ctx, kind, data) != nil {
			return
		}
	}
}
