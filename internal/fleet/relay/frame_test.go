package relay

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// TestDataFrames: data of any length is read as it was written, in frames that have a limit.
func TestDataFrames(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, maxFrame - 1, maxFrame, maxFrame + 1, 3*maxFrame + 7} {
		want := bytes.Repeat([]byte("x"), size)
		r := bufio.NewReader(bytes.NewReader(appendData(nil, want)))
		var got []byte
		for len(got) < size {
			kind, n, err := readHead(r)
			if err != nil || kind != kindData || n == 0 || n > maxFrame {
				t.Fatalf("%d bytes: frame %q of %d, %v", size, kind, n, err)
			}
			part := make([]byte, n)
			if _, err := io.ReadFull(r, part); err != nil {
				t.Fatal(err)
			}
			got = append(got, part...)
		}
		if _, err := r.ReadByte(); !bytes.Equal(got, want) || !errors.Is(err, io.EOF) {
			t.Errorf("%d bytes: read %d, then %v", size, len(got), err)
		}
	}
}

// TestReadHead: a frame that is too long breaks the protocol, and half a head is no frame.
func TestReadHead(t *testing.T) {
	t.Parallel()
	if _, _, err := readHead(bufio.NewReader(bytes.NewReader(appendHead(nil, kindData, maxFrame+1)))); !errors.Is(err, errProtocol) {
		t.Errorf("a long frame: %v", err)
	}
	if _, _, err := readHead(bufio.NewReader(bytes.NewReader([]byte{kindData, 0}))); !errors.Is(err, io.EOF) {
		t.Errorf("half a head: %v", err)
	}
}

// TestBegin: role and preview name of a request are read as they were written.
func TestBegin(t *testing.T) {
	t.Parallel()
	for _, want := range []Ask{{Role: svc.RoleProduction}, {Role: svc.RolePreview}, {Role: svc.RolePreview, Preview: "feature"}} {
		var got Ask
		if err := got.begin(appendBegin(nil, want.Role, want.Preview)[headSize:]); err != nil || got != want {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
	}
	if err := new(Ask).begin(nil); !errors.Is(err, errProtocol) {
		t.Errorf("an empty begin: %v", err)
	}
}

// answered is the gateway's end of a connection to a server that sends frames, whatever it is asked.
func answered(t *testing.T, frames []byte) *Conn {
	t.Helper()
	near, far := net.Pipe()
	go func() { _, _ = io.Copy(io.Discard, far) }()
	go func() { _, _ = far.Write(frames) }()
	t.Cleanup(func() { _, _ = near.Close(), far.Close() })
	return NewConn(near, nil)
}

// TestConnBegin: what the server says to a request, and what the gateway makes of it.
func TestConnBegin(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		frames []byte
		want   error // nil: admitted
	}{
		"admitted":              {appendHead(nil, kindAdmitted, 0), nil},
		"full":                  {appendHead(nil, kindFull, 0), ErrFull},
		"moved":                 {appendFrame(nil, kindMoved, binary.BigEndian.AppendUint64(nil, 7)), ErrNotAdmitted},
		"data before admission": {appendFrame(nil, kindData, []byte("x")), errProtocol},
		"unread before it":      {appendHead(nil, kindUnread, 0), errProtocol},
		"an unknown frame":      {appendHead(nil, 'X', 0), errProtocol},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := answered(t, tc.frames).Begin(svc.RoleProduction, "", true, time.Minute)
			if !errors.Is(err, tc.want) || (err == nil) != (tc.want == nil) {
				t.Errorf("%v, want %v", err, tc.want)
			}
			if moved, ok := errors.AsType[*MovedError](err); name == "moved" && (!ok || moved.Generation != 7) {
				t.Errorf("%v does not have the generation 7", err)
			}
		})
	}
}

// TestConnBeginLimit: a server that is silent has not admitted the request.
func TestConnBeginLimit(t *testing.T) {
	t.Parallel()
	err := answered(t, nil).Begin(svc.RolePreview, "", true, time.Millisecond)
	if !errors.Is(err, ErrNotAdmitted) || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
}

// TestConnRead: data after the admission is read over the borders of frames, and an unread request has an error of its own.
func TestConnRead(t *testing.T) {
	t.Parallel()
	frames := appendData(appendData(appendHead(nil, kindAdmitted, 0), []byte("one ")), []byte("two"))
	c := answered(t, appendHead(frames, kindUnread, 0))
	if err := c.Begin(svc.RoleProduction, "", false, 0); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len("one two"))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != "one two" {
		t.Fatalf("%q, %v", got, err)
	}
	if _, err := c.Read(got); !errors.Is(err, ErrUnread) {
		t.Errorf("then %v", err)
	}
}
