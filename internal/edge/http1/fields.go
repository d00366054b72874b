package http1

import "bytes"

// maxFields is the maximum number of lines of one head.
const maxFields = 512

// Kind distinguishes the fields that control a connection or the framing of a
// message from all others.
type Kind uint8

// The kinds of fields.
const (
	Other            Kind = iota
	Host                  // Host
	ContentLength         // Content-Length
	TransferEncoding      // Transfer-Encoding
	Connection            // Connection
	Upgrade               // Upgrade
	Expect                // Expect
	HopByHop              // any other field that ends at the next hop (RFC 9110, 7.6.1)
)

// Field is one line of a head, without the space around its value.
type Field struct {
	Kind  Kind
	Name  []byte
	Value []byte
}

// Fields are the lines of a head, with the values of those that control framing.
type Fields struct {
	List []Field
	// Length is the Content-Length, -1 without one.
	Length int64
	// Chunked reports whether the body is chunked.
	Chunked bool

	close     bool
	keepAlive bool
	upgrade   bool // Connection: upgrade
	named     bool // Connection names further fields
	upgradeTo []byte
	coding    int // Transfer-Encoding lines
	hosts     int
	host      []byte
	expect    []byte
}

// FindHead returns the length of the head at the start of b, its empty line
// included, or 0 if more bytes are needed. A call before has searched the first seen
// bytes of b. A bare LF is refused even before the head is complete.
func FindHead(b []byte, seen int) (int, error) {
	from := max(seen-len(headEnd)+1, 0)
	if i := bytes.Index(b[from:], headEnd); i >= 0 {
		return from + i + len(headEnd), nil
	}
	for rest, at := b[from:], from; ; {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			return 0, nil
		}
		if at+i == 0 || b[at+i-1] != '\r' {
			return 0, bad("a line of the head does not end in CR LF")
		}
		rest, at = rest[i+1:], at+i+1
	}
}

// Listed reports whether the Connection field names the field name, which makes that
// field end at this hop.
func (f *Fields) Listed(name []byte) bool {
	if !f.named {
		return false
	}
	for i := range f.List {
		if f.List[i].Kind == Connection && hasItem(f.List[i].Value, name) {
			return true
		}
	}
	return false
}

// Get returns the value of the first field with the lower-case name.
func (f *Fields) Get(name string) []byte {
	for i := range f.List {
		if EqualFold(f.List[i].Name, name) {
			return f.List[i].Value
		}
	}
	return nil
}

func hasItem(list, word []byte) bool {
	for len(list) > 0 {
		var item []byte
		item, list, _ = bytes.Cut(list, comma)
		if bytes.EqualFold(trimSpace(item), word) {
			return true
		}
	}
	return false
}

// parse parses the lines of b up to the empty line, which ends b.
func (f *Fields) parse(b []byte) error {
	*f = Fields{List: f.List[:0], Length: -1}
	for {
		line, rest, err := cutLine(b)
		if err != nil {
			return err
		}
		if len(line) == 0 {
			return nil
		}
		if len(f.List) == maxFields {
			return &Error{Status: 431, Detail: "the head has too many lines"}
		}
		if err := f.add(line); err != nil {
			return err
		}
		b = rest
	}
}

// cutLine splits b behind its first CR LF.
func cutLine(b []byte) (line, rest []byte, err error) {
	i := bytes.IndexByte(b, '\n')
	if i < 1 || b[i-1] != '\r' {
		return nil, nil, bad("a line of the head does not end in CR LF")
	}
	return b[:i-1], b[i+1:], nil
}

func (f *Fields) add(line []byte) error {
	field, err := parseField(line)
	if err != nil {
		return err
	}
	f.List = append(f.List, field)
	switch field.Kind {
	case Host:
		f.hosts++
		f.host = field.Value
	case ContentLength:
		n, ok := parseLength(field.Value)
		if !ok || f.Length >= 0 {
			return bad("Content-Length is not one plain number")
		}
		f.Length = n
	case TransferEncoding:
		f.coding++
		f.Chunked = EqualFold(field.Value, "chunked")
	case Connection:
		f.connection(field.Value)
	case Upgrade:
		f.upgradeTo = field.Value
	case Expect:
		f.expect = field.Value
	case HopByHop, Other:
	}
	return nil
}

func parseField(line []byte) (Field, error) {
	i := bytes.IndexByte(line, ':')
	if i < 1 || !isToken(line[:i]) {
		return Field{}, bad("a header line has no proper name")
	}
	value := trimSpace(line[i+1:])
	if !isText(value) {
		return Field{}, bad("a header value holds a control character")
	}
	return Field{Kind: kindOf(line[:i]), Name: line[:i], Value: value}, nil
}

func (f *Fields) connection(list []byte) {
	for len(list) > 0 {
		var item []byte
		item, list, _ = bytes.Cut(list, comma)
		switch item = trimSpace(item); {
		case len(item) == 0:
		case EqualFold(item, "close"):
			f.close = true
		case EqualFold(item, "keep-alive"):
			f.keepAlive = true
		case EqualFold(item, "upgrade"):
			f.upgrade = true
		default:
			f.named = true
		}
	}
}

// kindOf compares the length of the name first, which excludes most names.
func kindOf(name []byte) Kind {
	switch len(name) {
	case len("te"):
		return kindIf(name, "te", HopByHop)
	case len("host"):
		return kindIf(name, "host", Host)
	case len("expect"):
		return kindIf(name, "expect", Expect)
	case len("upgrade"):
		return max(kindIf(name, "upgrade", Upgrade), kindIf(name, "trailer", HopByHop))
	case len("connection"):
		return max(kindIf(name, "connection", Connection), kindIf(name, "keep-alive", HopByHop))
	case len("content-length"):
		return kindIf(name, "content-length", ContentLength)
	case len("proxy-connection"):
		return kindIf(name, "proxy-connection", HopByHop)
	case len("transfer-encoding"):
		return kindIf(name, "transfer-encoding", TransferEncoding)
	case len("proxy-authenticate"):
		return kindIf(name, "proxy-authenticate", HopByHop)
	case len("proxy-authorization"):
		return kindIf(name, "proxy-authorization", HopByHop)
	}
	return Other
}

func kindIf(name []byte, word string, k Kind) Kind {
	if EqualFold(name, word) {
		return k
	}
	return Other
}
