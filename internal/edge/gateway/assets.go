package gateway

import (
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/site"
	"github.com/svcctl/svcctl/internal/svc"
)

// lazySite is the assets of a version. They are read from its bundle when the first request
// comes.
type lazySite struct {
	dir  string
	read atomic.Bool
	mu   sync.Mutex
	site *site.Site // nil for a version without assets
}

// siteFor returns the site of a version in state: that of old if the bundle is the same.
func siteFor(old *version, state svc.Upstream) *lazySite {
	if state.BundleDir == "" {
		return nil
	}
	if old != nil && old.site != nil && old.site.dir == state.BundleDir {
		return old.site
	}
	return &lazySite{dir: state.BundleDir}
}

// isUnread reports whether open would read the bundle.
func (s *lazySite) isUnread() bool { return s != nil && !s.read.Load() }

// open returns the assets, nil for none. A bundle that cannot be read is tried again by
// the next request; the worker host reports it.
func (s *lazySite) open() *site.Site {
	if s.read.Load() {
		return s.site
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.read.Load() {
		return s.site
	}
	m, err := bundle.Load(s.dir)
	if err != nil {
		return nil
	}
	s.site = site.New(&m, s.dir)
	s.read.Store(true)
	return s.site
}

// asset is a response that is a static file, or that the rules of the assets make.
type asset struct {
	is      bool
	project string
	content []byte   // the whole file, if it is small
	file    *os.File // a larger one
	site.Answer
}

// open reads or opens the file of the response.
func (a *asset) open(kept *contents) (err error) {
	switch {
	case a.File == "":
	case a.Size > maxContent:
		a.file, err = os.Open(a.File)
	default:
		a.content, err = kept.read(a.key(), a.File)
	}
	return err
}

func (a *asset) key() contentKey { return contentKey{a.project, a.ID, a.Size} }

// isKept reports whether the response can be sent without a wait for the disk.
func (a *asset) isKept(kept *contents) bool {
	if a.File != "" {
		a.content = kept.get(a.key())
	}
	return !a.Late && (a.File == "" || a.content != nil)
}

// body is the body of the response, nil if the file is a large one.
func (a *asset) body() []byte {
	if a.content == nil {
		return nil
	}
	return a.content[a.Offset : a.Offset+a.Length]
}

func (a *asset) close() {
	if a.file != nil {
		_ = a.file.Close()
		a.file = nil
	}
}

// findAsset reports whether the assets of v answer the request.
func (x *request) findAsset(cfg *Config, v *version) bool {
	if v.site == nil {
		return false
	}
	s := v.site.open()
	if s == nil {
		return false
	}
	r := site.Request{Method: string(x.req.Method), Host: string(x.req.Host), Target: string(x.req.Target), Field: x.field, Prompt: x.inLoop}
	if cfg.Compress && x.req.Minor > 0 {
		if e := accepted(x.meta.encodings); e != identity {
			r.Encoding = encodingNames[e]
		}
	}
	x.asset.project = v.ref.Project
	x.asset.Answer, x.asset.is = s.Route(&r)
	return x.asset.is
}

func (x *request) field(name string) string { return string(x.req.Get(name)) }

// openAsset opens the file of the response and makes x.resp its head.
func (x *request) openAsset(kept *contents) error {
	if err := x.asset.open(kept); err != nil {
		return svc.Errorf(svc.Internal, svc.CodeAssetUnreadable, "the file of this address cannot be read").
			WithHint("deploy the version again, or ask the operator for the log").Because(err)
	}
	return x.resp.Parse(appendAnswer(nil, &x.asset.Answer))
}

// appendAnswer appends the head of an answer, its fields in the order of their names.
func appendAnswer(b []byte, a *site.Answer) []byte {
	b = append(strconv.AppendInt(append(b, "HTTP/1.1 "...), int64(a.Status), 10), ' ')
	b = append(append(b, http.StatusText(a.Status)...), "\r\n"...)
	names := make([]string, 0, 16) // on the stack
	for name := range a.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range a.Header[name] {
			b = append(append(append(append(b, name...), ": "...), value...), "\r\n"...)
		}
	}
	return append(b, "\r\n"...)
}

// relayAsset sends the static file in x.asset, its first part together with the head. It
// sets x.whole and x.keep like relay.
func (c *conn) relayAsset(x *exchange) {
	defer x.claim.release()
	keep := c.keeps(x)
	c.nc.answered(&x.request)
	x.status = x.resp.Status
	_, to := x.framing()
	x.out = x.appendResponse(x.out[:0], to, keep)
	for at, end := x.asset.Offset, x.asset.Offset+x.asset.bodyLength(); ; {
		n, err := x.asset.read(x.buf[:min(int64(bufferSize), end-at)], at)
		if err == nil {
			x.out = append(x.out, x.buf[:n]...)
			err = c.send(x, x.out)
		}
		if err != nil {
			x.breakOff(c.nc, to, c.isGone())
			return
		}
		x.sent += int64(n)
		if at += int64(n); at >= end {
			x.whole, x.keep = true, keep
			return
		}
		x.out = x.out[:0]
	}
}

// bodyLength is the number of bytes to send.
func (a *asset) bodyLength() int64 {
	if a.File == "" {
		return 0
	}
	return a.Length
}

// read fills b with the bytes of the file at an offset.
func (a *asset) read(b []byte, at int64) (int, error) {
	switch {
	case len(b) == 0:
		return 0, nil
	case a.content != nil:
		return copy(b, a.content[at:]), nil
	}
	n, err := a.file.ReadAt(b, at)
	if n == len(b) {
		return n, nil
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
