package cache_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func sized(n int) call { return call{Size: &n} }

// used is what the files below dir take, in bytes.
func used(t *testing.T, dir string) (sum int64) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		sum += (info.Size() + 4095) / 4096 * 4096
	}
	return sum
}

// The disk holds at most the limit, and what was not used for longest goes first.
func TestLimit(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	dir := t.TempDir()
	c := start(t, dir, limit)
	c.put("http://localhost/0", sized(100_000))
	for i := 1; i < 20; i++ {
		c.put(fmt.Sprintf("http://localhost/%d", i), sized(100_000))
		if r := c.get("http://localhost/0", nil); r.Miss {
			t.Fatalf("the response in use is gone after %d", i)
		}
		if n := used(t, dir); n > limit {
			t.Fatalf("%d bytes are on disk", n)
		}
	}
	if r := c.get("http://localhost/1", nil); !r.Miss {
		t.Error("the oldest response is there")
	}
	if r := c.get("http://localhost/19", nil); r.Miss {
		t.Error("the newest response is gone")
	}
	c.put("http://localhost/huge", sized(limit+1))
	if r := c.get("http://localhost/huge", nil); !r.Miss {
		t.Error("a response above the limit is stored")
	}
	if n := used(t, dir); n > limit {
		t.Errorf("%d bytes are on disk", n)
	}
}

// A large body is answered from its file.
func TestLarge(t *testing.T) {
	t.Parallel()
	c := start(t, t.TempDir(), limit)
	size := 20 << 20
	c.put("http://localhost/large", sized(size))
	for range 2 {
		r := c.call(call{Do: "match", URL: "http://localhost/large", Size: &size})
		if r.Body != fmt.Sprint(size) || r.header("content-length") != fmt.Sprint(size) {
			t.Errorf("%+v", r)
		}
	}
	if r := c.get("http://localhost/large", object{"Range": "bytes=-2"}); r.Body != "xx" {
		t.Errorf("%+v", r)
	}
}

// A cache without a size stores nothing, and nothing fails.
func TestOff(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "none")
	c := start(t, dir, 0)
	c.put("http://localhost/off", call{})
	if r := c.get("http://localhost/off", nil); !r.Miss {
		t.Errorf("%+v", r)
	}
	if r := c.call(call{Do: "delete", URL: "http://localhost/off"}); r.Value != "false" {
		t.Errorf("delete gives %s", r.Value)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("it made a directory")
	}
}

// A restart keeps what is whole on the disk, and deletes what is not.
//
//nolint:tparallel // the second life comes after the first
func TestRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	t.Run("before", func(t *testing.T) { // the second life comes after it
		c := start(t, dir, limit)
		c.put("http://localhost/kept", call{Body: "kept", Headers: object{"X-N": "1"}, Response: object{"Vary": "X-N", "X-Key": "value"}})
		c.put("http://localhost/short", call{Response: object{"Cache-Control": "max-age=1"}})
		c.put("http://localhost/torn", call{Body: "to be torn"})
	})
	tear(t, dir, "to be torn")
	if err := os.WriteFile(filepath.Join(dir, "new-1"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := start(t, dir, limit)
	c.advance(time.Minute)
	if r := c.get("http://localhost/kept", object{"X-N": "1"}); r.Body != "kept" || r.header("x-key") != "value" || r.header("age") != "60" {
		t.Errorf("%+v", r)
	}
	for _, url := range []string{"http://localhost/short", "http://localhost/torn"} {
		if r := c.get(url, nil); !r.Miss {
			t.Errorf("%s: %+v", url, r)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("%d files are left, %v", len(files), err)
	}
}

// tear replaces a body in its file by zeros, as a power failure does.
func tear(t *testing.T, dir, body string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Name())
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(string(text), body) {
			continue
		}
		clear(text[len(text)-len(body):])
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatalf("no file has %q", body)
}

// The directory may vanish at any time.
func TestVanishing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "c")
	c := start(t, dir, limit)
	for range 2 {
		c.put("http://localhost/gone", call{})
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if r := c.get("http://localhost/gone", nil); !r.Miss {
			t.Errorf("%+v", r)
		}
	}
}

// Many requests at a time each see whole responses.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	c := start(t, t.TempDir(), 2<<20)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			var list []call
			for j := range 30 {
				url := fmt.Sprintf("http://localhost/%d", (i+j)%5)
				size := 50_000 * (1 + (i+j)%5)
				list = append(list,
					call{Do: "put", URL: url, Size: &size, Response: object{"Cache-Control": "max-age=60"}},
					call{Do: "match", URL: url, Size: &size})
				if j%10 == 9 {
					list = append(list, call{Do: "delete", URL: url})
				}
			}
			for k, r := range c.calls(list...) {
				if r.Error != "" || list[k].Do == "match" && !r.Miss && r.Body != fmt.Sprint(*list[k].Size) {
					t.Errorf("%+v: %+v", list[k].URL, r)
				}
			}
		})
	}
	all.Wait()
}
