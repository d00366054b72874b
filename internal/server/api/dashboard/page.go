package dashboard

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

//go:embed templates
var templates embed.FS

// page is what the layout shows around the body of a view.
type page struct {
	Title  string
	Status int // 0 for 200
	Tab    string
	Place  place
	Live   string // events that the page follows: a project, "*" for all, "" for none
	Body   any
}

// place is where in the server a page is.
type place svc.Ref

// chrome is the data of a template.
type chrome struct {
	page
	Now    time.Time
	Signed bool
	Write  bool
	CSRF   string
	Note   note   // what was done
	Events string // address of the events since the page was made; "" for none
	Host   string
	Style  string
	Script string
	Icon   string
}

// parsePages returns the template of each page: the layout and the shared parts with
// the main part of the page.
func parsePages() (map[string]*template.Template, error) {
	base, err := template.New("layout.html").Funcs(functions()).ParseFS(templates, "templates/layout.html", "templates/parts/*.html")
	if err != nil {
		return nil, fmt.Errorf("dashboard: %w", err)
	}
	names, err := fs.Glob(templates, "templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("dashboard: %w", err)
	}
	pages := map[string]*template.Template{}
	for _, name := range names {
		own, err := base.Clone()
		if err == nil {
			own, err = own.ParseFS(templates, name)
		}
		if err != nil {
			return nil, fmt.Errorf("dashboard: %w", err)
		}
		pages[strings.TrimSuffix(path.Base(name), ".html")] = own
	}
	return pages, nil
}

// render answers with a page. A call without a session shows no navigation.
func (d *Dashboard) render(c *call, name string, p page) {
	d.execute(c, name, "layout.html", p)
}

// execute answers with one template of a page: all of it, or a part for the script.
func (d *Dashboard) execute(c *call, name, part string, p page) {
	var out bytes.Buffer
	if err := d.pages[name].ExecuteTemplate(&out, part, d.chromeOf(c, part, p)); err != nil {
		d.cfg.Logger.Error("rendering a page failed", "page", name, "error", err)
		http.Error(c.w, "rendering the page failed; see the log of the server", http.StatusInternalServerError)
		return
	}
	c.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	c.w.WriteHeader(cmp.Or(p.Status, http.StatusOK))
	_, _ = c.w.Write(out.Bytes()) // a browser that left
}

// chromeOf adds to a page what the layout shows around it.
func (d *Dashboard) chromeOf(c *call, part string, p page) chrome {
	data := chrome{
		page: p, Now: d.now(), Host: c.r.Host, Style: d.static["app.css"].name, Script: d.static["app.js"].name, Icon: d.static["icon.svg"].name,
	}
	if c.session == nil {
		return data
	}
	data.Signed, data.Write, data.CSRF = true, c.session.mayWrite(), c.session.csrf
	if part == "layout.html" && c.r.Header.Get("Sec-Fetch-Mode") != "cors" { // not a page of which the script takes a part
		data.Note = d.sessions.takeNote(c.session)
	}
	if p.Live != "" && c.cursor != "" {
		data.Events = "/-/events?" + url.Values{"project": {strings.TrimPrefix(p.Live, "*")}, "cursor": {c.cursor}}.Encode()
	}
	return data
}

// done continues at an address of this site, as projectURL and versionURL make them, where
// the next page of the session shows the note.
func (d *Dashboard) done(c *call, to, text string) error {
	return d.noted(c, to, note{Text: text})
}

// noted is done for a note that may say that something was not done.
func (d *Dashboard) noted(c *call, to string, n note) error {
	d.sessions.setNote(c.session, n)
	c.w.Header().Set("Location", to)
	c.w.WriteHeader(http.StatusSeeOther)
	return nil
}
