package gateway_test

import (
	"testing"

	"github.com/svcctl/svcctl/internal/edge/gateway"
)

// FuzzEngines gives the same bytes to the engines go and loop, which share a grammar and
// nothing else: what a client sends on one connection, and what the runtime sends for each
// request. Both are cut into pieces at random places. The engines must give the runtime, the
// client and the observer the same. The engine std is left out: its grammar differs, and
// TestDifferential compares it.
func FuzzEngines(f *testing.F) {
	for i, seed := range engineSeeds() {
		f.Add([]byte(seed[0]), []byte(seed[1]), uint64(i))
	}
	own, loop := newPair(f, gateway.EngineGo), newPair(f, gateway.EngineLoop)
	f.Fuzz(func(t *testing.T, client, runtime []byte, seed uint64) {
		sent, ok := expand(client)
		reply, ok2 := expand(runtime)
		if !ok || !ok2 {
			return
		}
		p := &plan{client: sent, runtime: reply, seed: seed}
		want := own.play(t, p)
		if diff := want.differs(loop.play(t, p)); diff != "" {
			t.Errorf("client %q, runtime %q, seed %d: go, then loop:\n%s", client, runtime, seed, diff)
		}
	})
}

// engineSeeds returns pairs: the bytes of a client, and those of the runtime for each request.
// Those of the client and of the runtime are combined.
func engineSeeds() (list [][2]string) {
	const host = " HTTP/1.1\r\nHost: v1.shop.apps.test\r\n"
	clients := []string{
		"GET /" + host + "\r\nGET /2" + host + "Connection: close\r\n\r\n",
		"HEAD /" + host + "\r\nOPTIONS *" + host + "\r\n",
		"POST /" + host + "Content-Length: 3\r\n\r\nabcGET /" + host + "\r\n",
		"POST /" + host + "Content-Length: 20480\r\n\r\n{20K}GET /" + host + "\r\n",
		"PUT /" + host + "Content-Length: 20\r\n\r\nshort",
		"POST /" + host + "Transfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nT: 1\r\n\r\nGET /" + host + "\r\n",
		"PUT /" + host + "Expect: 100-continue\r\nContent-Length: 2\r\n\r\nhiGET / HTTP/1.0\r\nHost: v1.shop.apps.test\r\n\r\n",
		"GET / HTTP/1.0\r\nHost: v1.shop.apps.test\r\nConnection: keep-alive\r\n\r\nGET /" + host + "\r\n",
		"GET /" + host + "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n\r\n\x81\x82\x00\x00\x00\x00hi\x88\x80\x00\x00\x00\x00",
		"GET / HTTP/1.1\r\nHost: nothing.test\r\n\r\nGET /" + host + "\r\nGET / HTTP/1.1\r\n\r\n",
		"GET /" + host + "X: {20K}\r\n\r\nGET /" + host + " folded: 1\r\n\r\n",
	}
	runtimes := []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nContent-Length: 204800\r\n\r\n{200K}",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n5000\r\n{20K}\r\n0\r\nT: 1\r\n\r\n",
		"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n\r\nuntil the end",
		"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nabc",
		"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n\r\n\x81\x05hello\x88\x00",
		"HTTP/1.1 500 Internal Server Error\r\nConnection: close\r\nContent-Length: 21\r\n\r\nInternal Server Error",
		"nonsense\r\n\r\n",
	}
	for i := range clients {
		for j := range runtimes {
			list = append(list, [2]string{clients[i], runtimes[j]})
		}
	}
	return list
}
