package cache

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/host/binding"
)

// errNotStored is a response that must not, or cannot, be stored.
var errNotStored = errors.New("not stored")

// put stores the response in the body of r. The worker does not see whether it was
// stored: both 204 and 413 are a put that worked.
func (c *Cache) put(w http.ResponseWriter, r *http.Request) {
	err := c.take(r)
	_, _ = io.Copy(io.Discard, r.Body) // workerd loses the connection otherwise
	switch {
	case err == nil:
		w.WriteHeader(http.StatusNoContent)
		return
	case !errors.Is(err, errNotStored):
		c.log.WarnContext(r.Context(), "cannot store a response in the cache; continuing without it", "error", err)
	}
	binding.Fail(w, http.StatusRequestEntityTooLarge, "the response is not cacheable or too large")
}

func (c *Cache) take(r *http.Request) error {
	body := bufio.NewReader(r.Body)
	status, header, err := readHead(body)
	if err != nil {
		return fmt.Errorf("reading a response to store: %w", err)
	}
	now := c.now()
	lives := lifetime(r.Header, header, status, now)
	if lives == 0 {
		return errNotStored
	}
	since := now.Add(-age(header))
	delete(header, "Age")
	removeUnstored(header)
	if len(header["Date"]) == 0 {
		header["Date"] = []string{now.UTC().Format(http.TimeFormat)}
	}
	fields, ok := selectors(header, r.Header)
	if !ok {
		return errNotStored
	}
	return c.store.write(keyOf(r), meta{since: since, expires: now.Add(lives), selectors: fields}, head(status, header), body, now)
}

// readHead reads the status and the headers of a response. What is after the blank
// line is the body to its end, whatever Transfer-Encoding says: workerd names that of
// the response it was, and has undone it.
func readHead(r *bufio.Reader) (status int, header http.Header, err error) {
	text := textproto.NewReader(r)
	line, err := text.ReadLine()
	if err != nil {
		return 0, nil, err
	}
	_, rest, _ := strings.Cut(line, " ")
	code, _, _ := strings.Cut(rest, " ")
	if status, err = strconv.Atoi(code); err != nil || !strings.HasPrefix(line, "HTTP/") {
		return 0, nil, fmt.Errorf("%q is no status line", line)
	}
	fields, err := text.ReadMIMEHeader()
	return status, http.Header(fields), err
}

// head is the status and the headers as readHead reads them.
func head(status int, header http.Header) string {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d\r\n", status)
	_ = header.Write(&b) // a Builder does not fail
	b.WriteString("\r\n")
	return b.String()
}

// meta is what is known of a stored response without its content.
type meta struct {
	since     time.Time         // when the response was made: its Age counts from here
	expires   time.Time         // the response is not used from here on
	selectors map[string]string // headers of the request that Vary names, by canonical name
}

// selectors are the headers of request that the response depends on. ok is false for a
// response that depends on more than headers. Accept-Encoding does not count: workerd
// decodes bodies for the worker.
func selectors(response, request http.Header) (fields map[string]string, ok bool) {
	fields = map[string]string{}
	for _, list := range response["Vary"] {
		for name := range strings.SplitSeq(list, ",") {
			switch name = textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(name)); name {
			case "", "Accept-Encoding":
			case "*":
				return nil, false
			default:
				fields[name] = strings.Join(request[name], ", ")
			}
		}
	}
	return fields, true
}

// selects reports whether the response answers a request with these headers.
func (m meta) selects(request http.Header) bool {
	for name, value := range m.selectors {
		if strings.Join(request[name], ", ") != value {
			return false
		}
	}
	return true
}
