package join

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// maxMessage is the limit of a Hello and of a Welcome, in bytes.
const maxMessage = 64 << 10

// Hello is what a machine says first, for one worker host.
type Hello struct {
	Secret  svc.Secret `json:"secret"`  // of the token
	Release string     `json:"release"` // of its program
	Time    time.Time  `json:"time"`    // by its clock
	Machine string     `json:"machine"` // identity of its data directory
	Name    string     `json:"name"`    // for people
	Session string     `json:"session"` // identity of the worker host, over all its lines
	Ref     *svc.Ref   `json:"ref,omitempty"`
	Mark    string     `json:"mark,omitempty"` // Mark of the spec that the host has open; "" for a spare
	// Direct is host:port where gateways reach the versions of the machine, "" for none; without a
	// host it is the address from which the machine dials. DirectPin is the Pin of its certificate.
	Direct    string `json:"direct,omitempty"`
	DirectPin string `json:"direct_pin,omitempty"`
}

// Welcome is the answer.
type Welcome struct {
	Error *svc.Error `json:"error,omitempty"` // why the machine may not join
	// Unwanted says that the version of the host is not the host's any more: end it, and join
	// again with another host.
	Unwanted bool          `json:"unwanted,omitempty"`
	Silence  time.Duration `json:"silence,omitempty"` // after which the daemon opens the version elsewhere
}

// Mark identifies what a spec says to a host on another machine, so that a daemon recognizes a
// version that runs.
func Mark(s svc.RuntimeSpec) (string, error) {
	s.Local, s.ObjectKeys, s.Host.Storage.Owner.Session = svc.LocalSpec{}, nil, ""
	s.ReadOnly = false // it changes while the version runs
	s.CreatedAt = s.CreatedAt.UTC()
	if len(s.Env) == 0 {
		s.Env = nil
	}
	if len(s.Secrets) == 0 {
		s.Secrets = nil
	}
	data, err := json.Marshal(s)
	if err != nil {
		return "", fmt.Errorf("encoding a spec: %w", err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// hello is a Hello with its secret in clear, for the line.
type hello struct {
	Hello

	Secret string `json:"secret"`
}

// WriteHello sends h.
func WriteHello(w io.Writer, h Hello) error { return write(w, hello{h, h.Secret.Reveal()}) }

// ReadHello reads what WriteHello sent.
func ReadHello(r io.Reader) (Hello, error) {
	var h hello
	err := read(r, &h)
	h.Hello.Secret = svc.Secret(h.Secret)
	return h.Hello, err
}

// WriteWelcome sends w.
func WriteWelcome(to io.Writer, w Welcome) error { return write(to, w) }

// ReadWelcome reads what WriteWelcome sent.
func ReadWelcome(r io.Reader) (w Welcome, err error) {
	err = read(r, &w)
	return w, err
}

func write(w io.Writer, message any) error {
	data, err := json.Marshal(message)
	if err == nil {
		_, err = w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), data...)) //nolint:gosec // below 4 GiB
	}
	if err != nil {
		return fmt.Errorf("joining: %w", err)
	}
	return nil
}

// read reads no byte beyond the message: the line begins there.
func read(r io.Reader, message any) error {
	var size [4]byte
	_, err := io.ReadFull(r, size[:])
	n := binary.BigEndian.Uint32(size[:])
	if err == nil && n > maxMessage {
		err = errors.New("the message is too long")
	}
	var data []byte
	if err == nil {
		data = make([]byte, n)
		_, err = io.ReadFull(r, data)
	}
	if err == nil {
		err = json.Unmarshal(data, message)
	}
	if err != nil {
		return fmt.Errorf("joining: %w", err)
	}
	return nil
}
