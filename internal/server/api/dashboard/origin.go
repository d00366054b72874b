package dashboard

import (
	"net/http"

	"github.com/svcctl/svcctl/pkg/client"
)

// apiFor returns a client of the API that acts for a browser's request.
func (d *Dashboard) apiFor(r *http.Request, token string) (*client.Client, error) {
	transport := local{handler: d.cfg.API, from: r}
	return client.New(originOf(r), client.Tokens{Admin: token}, client.Options{
		HTTP:      &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		UserAgent: "svcctl-dashboard", Actor: "dashboard",
	})
}

// originOf returns scheme and host by which a browser reached the server.
func originOf(r *http.Request) string {
	if secure(r) {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// secure reports whether the browser speaks https, to the server or to a proxy before it.
func secure(r *http.Request) bool {
	return r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https"
}
