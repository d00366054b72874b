package binding_test

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
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

// A body in a file arrives whole, after what was written before it, also where the kernel
// does not copy it: without a length, and as the answer to HEAD.
func TestFile(t *testing.T) {
	t.Parallel()
	const size = 3 << 20 // several times what a socket holds
	text := bytes.Repeat([]byte("0123456789abcdef"), size/16)
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	_, at := serve(t, t.Output(), func(w http.ResponseWriter, r *http.Request) {
		f, err := os.Open(path)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		if r.URL.Path == "/length" {
			w.Header().Set("Content-Length", strconv.Itoa(len("head")+size-20))
		}
		_, _ = io.WriteString(w, "head")
		part := io.NewSectionReader(f, 10, size-10)
		if _, err := io.CopyN(io.Discard, part, 10); err != nil {
			t.Error(err)
		}
		if n, err := io.Copy(w, part); err != nil || n != size-20 {
			t.Errorf("%s %s: %d bytes were copied, %v", r.Method, r.URL, n, err)
		}
	})
	want := "head" + string(text[20:])
	for _, tt := range []struct{ method, path, want string }{{"GET", "/length", want}, {"GET", "/chunks", want}, {"HEAD", "/length", ""}, {"GET", "/length", want}} {
		req, err := http.NewRequestWithContext(t.Context(), tt.method, "http://x"+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client(at).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || string(got) != tt.want {
			t.Errorf("%s %s: %d bytes, %v", tt.method, tt.path, len(got), err)
		}
	}
}

// A file that is shorter than the part of it that was announced ends the connection.
func TestShortFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, at := serve(t, t.Output(), func(w http.ResponseWriter, _ *http.Request) {
		f, err := os.Open(path)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		w.Header().Set("Content-Length", "10")
		if n, err := io.Copy(w, io.NewSectionReader(f, 0, 10)); err == nil || n != 5 {
			t.Errorf("%d bytes were copied, %v", n, err)
		}
	})
	resp, err := client(at).Get("http://x/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got, err := io.ReadAll(resp.Body); err == nil || string(got) != "short" {
		t.Errorf("%q, %v", got, err)
	}
}
