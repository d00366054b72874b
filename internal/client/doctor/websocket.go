package doctor

import (
	"context"
	"net/http"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// websocket checks that the handshake of a websocket reaches the gateway.
func (s *site) websocket(ctx context.Context) svc.Finding {
	resp, err := s.ask(ctx, http.MethodGet, http.Header{
		"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"c3ZjY3RsIGRvY3RvciA6KQ=="},
	}, http.NoBody, 0)
	switch {
	case err != nil:
		return s.unreachable(err)
	case resp.seen() == "":
		return s.stranger(resp)
	case !strings.Contains(resp.seen(), "upgrade=websocket"):
		return svc.Found(svc.FindingFailed, "the handshake of a websocket arrives as a plain request").
			WithAdvice("let the proxy pass Upgrade and Connection on, by HTTP/1.1 (nginx: proxy_http_version 1.1)")
	}
	return svc.Found(svc.FindingOK, "handshakes arrive")
}
