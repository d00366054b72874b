package gateway

import (
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"

	"github.com/svcctl/svcctl/internal/site"
	"github.com/svcctl/svcctl/internal/svc"
)

// openAsset opens the file of the response and makes x.resp its head.
func (x *request) openAsset(kept *contents) error {
	if err := x.openFile(kept); err != nil {
		return svc.Errorf(svc.Internal, svc.CodeAssetUnreadable, "the file of this address cannot be read").
			WithHint("deploy the version again, or ask the operator for the log").Because(err)
	}
	return x.resp.Parse(appendAnswer(nil, &x.static.Answer))
}

// openFile reads or opens the file of the response.
func (x *request) openFile(kept *contents) (err error) {
	switch a := &x.static; {
	case a.File == "":
	case a.Size > maxContent:
		x.file, err = os.Open(a.File)
	default:
		x.content, err = kept.read(keyOf(a), a.File)
	}
	return err
}

// closeAsset closes the file of the response.
func (x *request) closeAsset() {
	if x.file != nil {
		_ = x.file.Close()
		x.file = nil
	}
}

func keyOf(a *static) contentKey { return contentKey{a.project, a.ID, a.Size} }

// isKept reports whether the static file of x can be sent without a wait for the disk.
func (s *Service) isKept(x *request) bool {
	a := &x.static
	if a.File != "" {
		x.content = s.contents.get(keyOf(a))
	}
	return !a.Late && (a.File == "" || x.content != nil)
}

// assetBody is the body of the response, nil if the file is a large one.
func (x *request) assetBody() []byte {
	if x.content == nil {
		return nil
	}
	return x.content[x.static.Offset : x.static.Offset+x.static.Length]
}

// assetLength is the number of bytes to send.
func (x *request) assetLength() int64 {
	if x.static.File == "" {
		return 0
	}
	return x.static.Length
}

// readAsset fills b with the bytes of the file at an offset.
func (x *request) readAsset(b []byte, at int64) (int, error) {
	switch {
	case len(b) == 0:
		return 0, nil
	case x.content != nil:
		return copy(b, x.content[at:]), nil
	}
	n, err := x.file.ReadAt(b, at)
	if n == len(b) {
		return n, nil
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// appendAnswer makes the head of the answer of the static files the response. x.resp points at b.
func (x *request) appendAnswer(b []byte) ([]byte, error) {
	b = appendAnswer(b, &x.static.Answer)
	return b, x.resp.Parse(b)
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
