package front

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Cron is one run of the scheduled handler that a request asks for.
type Cron struct {
	Version    string    // that runs it
	Expression string    // "" for none
	At         time.Time // when it was due; zero for now
}

// The paths where wrangler dev runs the scheduled handler. Templates name them.
const (
	scheduledPath    = "/cdn-cgi/handler/scheduled"
	oldScheduledPath = "/__scheduled"
)

// asksCron reports whether a request is for the scheduled handler.
func (f *Front) asksCron(r *http.Request) bool {
	return f.cfg.Cron != nil && (r.URL.Path == scheduledPath || r.URL.Path == oldScheduledPath)
}

// cron runs the scheduled handler and answers with its outcome, as wrangler dev does: the cron
// expression is the parameter cron, and time is in milliseconds since 1970.
func (f *Front) cron(w http.ResponseWriter, r *http.Request, version string) {
	query := r.URL.Query()
	run := Cron{Version: version, Expression: query.Get("cron")}
	if text := query.Get("time"); text != "" {
		ms, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			http.Error(w, "the parameter time is in milliseconds since 1970", http.StatusBadRequest)
			return
		}
		run.At = time.UnixMilli(ms)
	}
	outcome, err := f.cfg.Cron(r.Context(), run)
	status := http.StatusOK
	if err != nil {
		outcome, status = outcome+": "+err.Error(), http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintln(w, outcome) // the client may be gone
}
