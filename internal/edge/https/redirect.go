package https

import (
	"net"
	"net/http"
	"strconv"
	"strings"
)

// Redirect returns a handler that sends visitors of plain HTTP to https at port, with the
// method and the target that they asked for.
func Redirect(port int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		if host == "" || r.RequestURI == "" || r.RequestURI[0] != '/' {
			http.Error(w, "this server is reached by https", http.StatusBadRequest)
			return
		}
		if strings.Contains(host, ":") || port != 443 { // brackets for IPv6
			host = strings.TrimSuffix(net.JoinHostPort(strings.Trim(host, "[]"), strconv.Itoa(port)), ":443")
		}
		w.Header().Set("Location", "https://"+host+r.RequestURI)
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusPermanentRedirect)
	})
}
