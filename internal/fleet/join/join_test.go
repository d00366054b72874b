package join_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/pem"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/fleet/join"
	"github.com/svcctl/svcctl/internal/svc"
)

func authority(t *testing.T) *join.Authority {
	t.Helper()
	a, err := join.NewAuthority(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// daemon answers each machine with w, and passes on what machines say.
func daemon(t *testing.T, a *join.Authority, w join.Welcome) (addr string, hellos chan join.Hello) {
	t.Helper()
	plain, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l, err := a.Listen(plain, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	hellos = make(chan join.Hello, 1)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if h, err := join.ReadHello(conn); err == nil {
				hellos <- h
				_ = join.WriteWelcome(conn, w)
			}
			_ = conn.Close()
		}
	}()
	return l.Addr().String(), hellos
}

// TestDial: a machine that pins the daemon's authority says its hello and gets the answer.
func TestDial(t *testing.T) {
	t.Parallel()
	a := authority(t)
	addr, hellos := daemon(t, a, join.Welcome{Silence: time.Minute})
	token := join.NewToken(a.Certificate())
	conn, w, err := join.Dial(t.Context(), addr, token, join.Hello{Secret: token.Secret, Name: "m1", Ref: &svc.Ref{Project: "shop", Version: "v1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	h := <-hellos
	if !token.Equal(h.Secret) || h.Name != "m1" || h.Ref == nil || h.Ref.Version != "v1" || w.Silence != time.Minute {
		t.Errorf("%+v, %+v", h, w)
	}
}

// TestDialRefused: a daemon of another authority does not learn the secret, and what the daemon answers is the
// error of the machine.
func TestDialRefused(t *testing.T) {
	t.Parallel()
	a, other := authority(t), authority(t)
	refusal := svc.Errorf(svc.Conflict, svc.CodeHostOtherRelease, "another release")
	addr, hellos := daemon(t, a, join.Welcome{Error: refusal})
	for _, tc := range []struct {
		token join.Token
		code  string
		said  int
	}{
		{join.NewToken(other.Certificate()), svc.CodeHostDaemonUntrusted, 0},
		{join.NewToken(a.Certificate()), svc.CodeHostOtherRelease, 1},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		conn, _, err := join.Dial(ctx, addr, tc.token, join.Hello{Secret: tc.token.Secret})
		cancel()
		if conn != nil || svc.CodeOf(err) != tc.code || len(hellos) != tc.said {
			t.Errorf("%v, want %s; the daemon was told %d secrets, want %d", err, tc.code, len(hellos), tc.said)
		}
	}
}

// TestAuthorityIsKept: an authority that was written and read is the same one.
func TestAuthorityIsKept(t *testing.T) {
	t.Parallel()
	a := authority(t)
	text, err := a.PEM()
	if err != nil {
		t.Fatal(err)
	}
	again, err := join.ParseAuthority(text)
	if err != nil || join.Pin(again.Certificate()) != join.Pin(a.Certificate()) {
		t.Errorf("%v", err)
	}
	if pin, err := join.PinOf(text); err != nil || pin != join.Pin(a.Certificate()) {
		t.Errorf("%s, %v", pin, err)
	}
	for _, bad := range []string{"", "no PEM", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")}))} {
		if _, err := join.ParseAuthority([]byte(bad)); err == nil {
			t.Errorf("%q is an authority", bad)
		}
		if _, err := join.PinOf([]byte(bad)); err == nil {
			t.Errorf("%q has a pin", bad)
		}
	}
}

// TestParseToken: a token is read as it was written, and the error of another text does not repeat it.
func TestParseToken(t *testing.T) {
	t.Parallel()
	token := join.NewToken(authority(t).Certificate())
	again, err := join.ParseToken(" " + token.Reveal() + "\n")
	if err != nil || again.Pin != token.Pin || !again.Equal(token.Secret) {
		t.Errorf("%v", err)
	}
	if token.Equal("") || token.Equal("other") || (join.Token{}).Equal("") {
		t.Error("another secret is equal")
	}
	pin := strings.Repeat("a", 64)
	for _, bad := range []string{"", "svchost", "svchost." + pin, "svchost." + pin + ".", "svchost.short.secret", "other." + pin + ".secret", "svchost." + pin + ".secret.more"} {
		_, err := join.ParseToken(bad)
		if svc.CodeOf(err) != svc.CodeHostTokenInvalid || strings.Contains(err.Error(), "secret.more") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestMark: what differs between a daemon and the machine that runs a version for it does not change the mark.
func TestMark(t *testing.T) {
	t.Parallel()
	at := time.Now()
	spec := svc.RuntimeSpec{Ref: svc.Ref{Project: "shop", Version: "v1"}, CreatedAt: at}
	mark, err := join.Mark(spec)
	if err != nil || len(mark) != 64 {
		t.Fatal(mark, err)
	}
	same, other := spec, spec
	same.Local, same.ReadOnly, same.CreatedAt, same.Env = svc.LocalSpec{DataDir: "/elsewhere"}, true, at.UTC(), map[string]string{}
	other.Env = map[string]string{"A": "b"}
	if got, _ := join.Mark(same); got != mark {
		t.Error("the place of the data changes the mark")
	}
	if got, _ := join.Mark(other); got == mark {
		t.Error("a variable does not change the mark")
	}
}

// TestMessages: a message is read to its end and no further, and one that is too long is not read.
func TestMessages(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := join.WriteWelcome(&b, join.Welcome{Unwanted: true}); err != nil {
		t.Fatal(err)
	}
	b.WriteString("the line")
	w, err := join.ReadWelcome(&b)
	if err != nil || !w.Unwanted || b.String() != "the line" {
		t.Errorf("%+v, %v; left %q", w, err, b.String())
	}
	for _, bad := range [][]byte{nil, {0, 0}, binary.BigEndian.AppendUint32(nil, 1<<20), append(binary.BigEndian.AppendUint32(nil, 3), "{}"...), append(binary.BigEndian.AppendUint32(nil, 1), '{')} {
		if _, err := join.ReadHello(bytes.NewReader(bad)); err == nil {
			t.Errorf("%v is a hello", bad)
		}
	}
}
