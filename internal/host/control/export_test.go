package control

import "net/http"

// Route is what answers the requests on the line.
func Route(h Handler) http.Handler { return (&Server{notices: newNotices()}).route(h) }
