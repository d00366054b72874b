package binding_test

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"strconv"
	"testing"
)

// An answer that the socket cannot take in one call arrives whole, whatever the size of its parts,
// and the connection serves the next request.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	const size = 1 << 20 // several times what a socket holds
	body := bytes.Repeat([]byte("0123456789abcdef"), size/16)
	began := make(chan struct{}, 1)
	_, path := serve(t, t.Output(), func(w http.ResponseWriter, r *http.Request) {
		part, err := strconv.Atoi(r.URL.Query().Get("part"))
		if err != nil {
			t.Error(err)
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(size))
		for rest := body; len(rest) > 0; rest = rest[min(part, len(rest)):] {
			if _, err := w.Write(rest[:min(part, len(rest))]); err != nil {
				t.Error(err)
				return
			}
			if len(rest) == size {
				began <- struct{}{}
			}
		}
	})
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, part := range []string{"100", "10000", "100000"} {
		if _, err := io.WriteString(conn, "GET /?part="+part+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		<-began
		resp, err := http.ReadResponse(bufio.NewReaderSize(conn, 100), nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || !bytes.Equal(got, body) {
			t.Errorf("parts of %s: %d bytes, %v", part, len(got), err)
		}
	}
}
