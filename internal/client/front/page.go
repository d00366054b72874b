package front

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"mime"
	"net/http"
	"strings"
)

// Problem is what keeps a save from being served.
type Problem struct {
	Code   string // error code, for the header Svc-Error
	Title  string // "The worker does not build"
	Detail string // text of several lines, with source lines in columns
}

const style = "margin:0;padding:1em 1.5em;border:0;border-bottom:4px solid #c33;background:#211;color:#fdd;" +
	"font:14px/1.5 ui-monospace,monospace;text-align:left;white-space:pre-wrap;overflow-wrap:anywhere"

// block is the problem as a part of a page. It needs no style sheet and no script: a
// page may forbid both.
func (p *Problem) block() string {
	return fmt.Sprintf("\n<pre role=\"alert\" id=\"svcctl-problem\" style=%q><b>%s</b>\n%s</pre>\n", style, html.EscapeString(p.Title), html.EscapeString(p.Detail))
}

// writeProblem answers with the problem: as a page for browsers, else as text.
func writeProblem(w http.ResponseWriter, r *http.Request, p *Problem) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	if p.Code != "" {
		h.Set("Svc-Error", p.Code)
	}
	if !wantsPage(r) {
		h.Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = fmt.Fprintf(w, "%s\n%s\n", p.Title, p.Detail) // the client may be gone
		return
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = fmt.Fprintf(w, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>%s</title></head>\n<body style=\"margin:0\">%s%s</body></html>\n",
		html.EscapeString(p.Title), p.block(), script)
}

// wantsPage reports whether the request is a browser's, for a page.
func wantsPage(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// decorate adds the problem and the script of live reload to a page.
func (f *Front) decorate(resp *http.Response) error {
	p := f.problem.Load()
	if !isPage(resp) || p == nil && !f.cfg.LiveReload {
		return nil
	}
	head := ""
	if p != nil {
		head = p.block()
	}
	resp.Header.Del("Content-Length")
	resp.Header.Del("ETag") // the page is another one now
	resp.Header.Set("Cache-Control", "no-store")
	resp.ContentLength = -1
	resp.Body = &pageBody{Reader: insertAfterBody(resp.Body, head+script), Closer: resp.Body}
	return nil
}

// isPage reports whether an answer is a page that can be added to.
func isPage(resp *http.Response) bool {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return err == nil && kind == "text/html" && resp.Header.Get("Content-Encoding") == "" &&
		resp.Request.Method == http.MethodGet && wantsPage(resp.Request) && resp.StatusCode != http.StatusNotModified
}

type pageBody struct {
	io.Reader
	io.Closer
}

// headLimit is how much of a page is looked at for its <body> tag.
const headLimit = 64 << 10

// insertAfterBody returns the page with text behind its <body> tag, or before
// everything else if no tag is in the first bytes.
func insertAfterBody(page io.Reader, text string) io.Reader {
	var head bytes.Buffer
	buf := make([]byte, 4<<10)
	for head.Len() < headLimit {
		n, err := page.Read(buf)
		head.Write(buf[:n])
		if at := afterBody(head.Bytes()); at >= 0 {
			return io.MultiReader(bytes.NewReader(head.Bytes()[:at]), strings.NewReader(text), bytes.NewReader(head.Bytes()[at:]), rest(page, err))
		}
		if err != nil {
			return io.MultiReader(strings.NewReader(text), &head, rest(page, err))
		}
	}
	return io.MultiReader(strings.NewReader(text), &head, page)
}

// rest is what follows a read that returned err.
func rest(page io.Reader, err error) io.Reader {
	if err != nil {
		return failing{err}
	}
	return page
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// afterBody finds the end of the <body> tag; -1 if it is not there.
func afterBody(page []byte) int {
	const tag = "<body"
	for from := 0; ; {
		at := bytes.IndexByte(page[from:], tag[0])
		if at < 0 || from+at+len(tag) > len(page) {
			return -1
		}
		from += at
		if end := bytes.IndexByte(page[from:], '>'); end >= 0 && strings.EqualFold(string(page[from:from+len(tag)]), tag) {
			return from + end + 1
		}
		from++
	}
}
