package exchange

import (
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"

	"github.com/svcctl/svcctl/internal/edge/gateway/route"
	"github.com/svcctl/svcctl/internal/site"
	"github.com/svcctl/svcctl/internal/svc"
)

// openAsset opens the file of the response and makes x.Resp its head.
func (x *Request) openAsset(kept *contents) error {
	if err := x.openFile(kept); err != nil {
		return svc.Errorf(svc.Internal, svc.CodeAssetUnreadable, "the file of this address cannot be read").
			WithHint("deploy the version again, or ask the operator for the log").Because(err)
	}
	return x.Resp.Parse(appendAnswerHead(nil, &x.Static.Answer))
}

// openFile reads or opens the file of the response.
func (x *Request) openFile(kept *contents) (err error) {
	switch a := &x.Static; {
	case a.File == "":
	case a.Size > maxContent:
		x.File, err = os.Open(a.File)
	default:
		x.content, err = kept.read(keyOf(a), a.File)
	}
	return err
}

// CloseAsset closes the file of the response.
func (x *Request) CloseAsset() {
	if x.File != nil {
		_ = x.File.Close()
		x.File = nil
	}
}

func keyOf(a *route.Static) contentKey { return contentKey{a.Project, a.ID, a.Size} }

// IsKept reports whether the static file of x can be sent without a wait for the disk.
func (s *Service) IsKept(x *Request) bool {
	a := &x.Static
	if a.File != "" {
		x.content = s.contents.get(keyOf(a))
	}
	return !a.Late && (a.File == "" || x.content != nil)
}

// AssetBody is the body of the response, nil if the file is a large one.
func (x *Request) AssetBody() []byte {
	if x.content == nil {
		return nil
	}
	return x.content[x.Static.Offset : x.Static.Offset+x.Static.Length]
}

// AssetLength is the number of bytes to send.
func (x *Request) AssetLength() int64 {
	if x.Static.File == "" {
		return 0
	}
	return x.Static.Length
}

// ReadAsset fills b with the bytes of the file at an offset.
func (x *Request) ReadAsset(b []byte, at int64) (int, error) {
	switch {
	case len(b) == 0:
		return 0, nil
	case x.content != nil:
		return copy(b, x.content[at:]), nil
	}
	n, err := x.File.ReadAt(b, at)
	if n == len(b) {
		return n, nil
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// AppendAnswer makes the head of the answer of the static files the response. x.Resp points at b.
func (x *Request) AppendAnswer(b []byte) ([]byte, error) {
	b = appendAnswerHead(b, &x.Static.Answer)
	return b, x.Resp.Parse(b)
}

// appendAnswerHead appends the head of an answer, its fields in the order of their names.
func appendAnswerHead(b []byte, a *site.Answer) []byte {
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
