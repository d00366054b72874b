package dashboard

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// cookieOf is the name of the session's cookie. With https the prefix keeps sibling
// host names from setting it.
func cookieOf(r *http.Request) string {
	if secure(r) {
		return "__Host-svcctl-session"
	}
	return "svcctl-session"
}

// sessionOf returns the session of a request, or nil.
func (d *Dashboard) sessionOf(r *http.Request) *session {
	cookie, err := r.Cookie(cookieOf(r))
	if err != nil {
		return nil
	}
	return d.sessions.find(cookie.Value, d.now())
}

// signInForm is what the page of the sign-in shows.
type signInForm struct{ Next, Error string }

// askToSignIn answers a request without a session. A link on another site does not carry
// the SameSite=Strict cookie: the page that is sent for it loads itself again, as a
// request of this site.
func (d *Dashboard) askToSignIn(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Header.Get("Sec-Fetch-Site") == "cross-site" && r.Method == http.MethodGet:
		d.render(&call{w: w, r: r}, "bounce", page{Title: "svcctl", Body: nextOf(r.URL.RequestURI())})
	case r.Method != http.MethodGet || r.Header.Get("Sec-Fetch-Mode") == "cors":
		d.render(&call{w: w, r: r}, "sign-in", page{Title: "Sign in", Status: http.StatusUnauthorized, Body: signInForm{Next: "/", Error: "The session has ended."}})
	default:
		to := "/sign-in"
		if next := r.URL.RequestURI(); next != "/" {
			to += "?next=" + url.QueryEscape(next)
		}
		http.Redirect(w, r, to, http.StatusSeeOther)
	}
}

// nextOf returns an address of this site, or "/" for one of another.
func nextOf(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "" || u.Host != "" || u.Opaque != "" || !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") ||
		strings.ContainsAny(text, "\\\r\n\t") || strings.HasPrefix(u.Path, "/sign-in") {
		return "/"
	}
	return text
}

// showSignIn shows the form, or redeems a ticket.
func (d *Dashboard) showSignIn(w http.ResponseWriter, r *http.Request) {
	next := nextOf(r.URL.Query().Get("next"))
	if id := r.URL.Query().Get("ticket"); id != "" {
		d.showTicket(w, r, ticketForm{Next: next, Ticket: id})
		return
	}
	if d.sessionOf(r) != nil {
		http.Redirect(w, r, next, http.StatusSeeOther) //nolint:gosec // nextOf has made it an address of this site
		return
	}
	d.render(&call{w: w, r: r}, "sign-in", page{Title: "Sign in", Body: signInForm{Next: next}})
}

// ticketForm is what the page shows that asks before it redeems a ticket.
type ticketForm struct{ Next, Ticket string }

// showTicket redeems a ticket if a person has opened its address: typed, from a terminal, or from a
// page of this server. Else it asks: a program that makes a preview of a link must not use the
// ticket up, and a page of another site must not sign a visitor in.
func (d *Dashboard) showTicket(w http.ResponseWriter, r *http.Request, form ticketForm) {
	site := r.Header.Get("Sec-Fetch-Site")
	if r.Method == http.MethodGet && (site == "none" || site == "same-origin") {
		d.redeem(w, r, form)
		return
	}
	d.render(&call{w: w, r: r}, "ticket", page{Title: "Sign in", Body: form})
}

// redeem begins a session by a ticket, once. Failures do not count as attempts: a ticket cannot
// be guessed.
func (d *Dashboard) redeem(w http.ResponseWriter, r *http.Request, form ticketForm) {
	token, ok := d.sessions.redeem(form.Ticket, d.now())
	if !ok {
		d.refuse(w, r, http.StatusUnauthorized, signInForm{Next: form.Next, Error: "This address was used before, or is older than a minute. Run svcctl dashboard again."})
		return
	}
	if reason := d.begin(w, r, token.Reveal(), form.Next); reason != "" {
		d.refuse(w, r, http.StatusUnauthorized, signInForm{Next: form.Next, Error: reason})
	}
}

// Ticket returns the path of a page that signs a browser in with a token, once, until
// expiry.
func (d *Dashboard) Ticket(token svc.Secret) (path string, expiry time.Time) {
	id, expiry := d.sessions.issue(token, d.now())
	return "/sign-in?ticket=" + id, expiry
}

// signIn exchanges a token for a session.
func (d *Dashboard) signIn(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	form := signInForm{Next: nextOf(r.PostFormValue("next"))}
	if d.origins.Check(r) != nil {
		form.Error = "The form is of another site."
		d.refuse(w, r, http.StatusForbidden, form)
		return
	}
	if id := r.PostFormValue("ticket"); id != "" {
		d.redeem(w, r, ticketForm{Next: form.Next, Ticket: id})
		return
	}
	from := d.clientOf(r)
	if !d.attempts.allowed(from, d.now()) {
		w.Header().Set("Retry-After", "60")
		form.Error = "Too many failed attempts. Wait a minute, or run svcctl dashboard, which has no limit."
		d.refuse(w, r, http.StatusTooManyRequests, form)
		return
	}
	if form.Error = d.begin(w, r, strings.TrimSpace(r.PostFormValue("token")), form.Next); form.Error != "" {
		d.attempts.failed(from)
		d.refuse(w, r, http.StatusUnauthorized, form)
	}
}

// begin begins a session if the API knows the token, and opens the page next. Else it returns why
// not.
//
//nolint:gosec // nextOf has made next an address of this site; over http the cookie cannot be Secure
func (d *Dashboard) begin(w http.ResponseWriter, r *http.Request, token, next string) (reason string) {
	role, reason := d.roleOf(r, token)
	if reason != "" {
		return reason
	}
	if old, err := r.Cookie(cookieOf(r)); err == nil {
		d.sessions.end(old.Value)
	}
	id := d.sessions.begin(svc.Secret(token), role, d.now())
	http.SetCookie(w, &http.Cookie{
		Name: cookieOf(r), Value: id, Path: "/", MaxAge: int(sessionTime.Seconds()), HttpOnly: true, Secure: secure(r), SameSite: http.SameSiteStrictMode,
	})
	http.Redirect(w, r, next, http.StatusSeeOther)
	return ""
}

// roleOf returns the role of a token that may read, or why it may not.
func (d *Dashboard) roleOf(r *http.Request, token string) (role, reason string) {
	if token == "" {
		return "", "Enter a token."
	}
	caller, err := d.apiFor(r, token)
	if err != nil {
		return "", err.Error()
	}
	who, err := caller.Whoami(r.Context())
	switch {
	case client.CodeOf(err) == svc.CodeUnauthorized:
		return "", "The server does not know this token."
	case err != nil:
		return "", err.Error()
	case slices.Contains(who.Roles, api.WhoamiRolesAdmin):
		return svc.RoleAdmin, ""
	case slices.Contains(who.Roles, api.WhoamiRolesRead):
		return svc.RoleRead, ""
	}
	return "", "This token may only create versions. Use one with the role admin or read."
}

// refuse shows the form again.
func (d *Dashboard) refuse(w http.ResponseWriter, r *http.Request, status int, form signInForm) {
	d.render(&call{w: w, r: r}, "sign-in", page{Title: "Sign in", Status: status, Body: form})
}

// signOut ends the session of a form.
func (d *Dashboard) signOut(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if s := d.sessionOf(r); s != nil && (d.origins.Check(r) != nil || !s.valid(r.PostFormValue("csrf"))) {
		d.refuse(w, r, http.StatusForbidden, signInForm{Next: "/", Error: "The form is not of this session."})
		return
	}
	d.forget(w, r)
	w.Header().Set("Clear-Site-Data", `"cache"`)
	http.Redirect(w, r, "/sign-in", http.StatusSeeOther)
}

// forget ends the session of a request and deletes its cookie.
func (d *Dashboard) forget(w http.ResponseWriter, r *http.Request) {
	if cookie, err := r.Cookie(cookieOf(r)); err == nil {
		d.sessions.end(cookie.Value)
	}
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // over http it cannot be Secure
		Name: cookieOf(r), Path: "/", MaxAge: -1, HttpOnly: true, Secure: secure(r), SameSite: http.SameSiteStrictMode,
	})
}
