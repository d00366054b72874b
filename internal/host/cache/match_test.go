package cache_test

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const limit = 64 << 20

func TestMatch(t *testing.T) {
	t.Parallel()
	c := start(t, t.TempDir(), limit)
	const url = "http://localhost/hit"
	if r := c.get(url, nil); !r.Miss {
		t.Errorf("before the put: %+v", r)
	}
	for name, one := range map[string]call{
		"text":   {Body: "text", Response: object{"X-Key": "value", "Etag": `"e"`}},
		"stream": {Body: "stream", Stream: true, Response: object{"X-Key": "value"}},
		"plain":  {Body: "plain", Plain: true, Response: object{"X-Key": "value"}},
		"latin":  {Body: "latin", Response: object{"X-Key": "value", "X-Other": "caf\u00e9"}},
	} {
		c.put(url, one)
		for range 2 { // from disk and from memory
			r := c.get(url, nil)
			if r.Status != 200 || r.Body != name || r.header("x-key") != "value" || r.header("cf-cache-status") != "HIT" ||
				r.header("cache-control") != "max-age=3600" || r.header("age") != "0" || r.header("date") == "" {
				t.Errorf("%s: %+v", name, r)
			}
		}
	}
	c.advance(90 * time.Second)
	if r := c.get(url, nil); r.header("age") != "90" {
		t.Errorf("its age is %q", r.header("age"))
	}
}

// A stored status is given back, with its body or without.
func TestStatus(t *testing.T) {
	t.Parallel()
	c := start(t, t.TempDir(), limit)
	for status, stored := range map[int]bool{200: true, 203: true, 204: true, 301: true, 302: true, 404: true, 410: true, 500: false, 403: false} {
		c.put("http://localhost/status", call{Status: status, Response: object{"Location": "/x"}})
		r := c.get("http://localhost/status", nil)
		if stored && (r.Status != status || (r.Body == "body") != (status != 204)) || !stored && !r.Miss {
			t.Errorf("%d: %+v", status, r)
		}
		c.call(call{Do: "delete", URL: "http://localhost/status"})
	}
}

func TestConditions(t *testing.T) {
	t.Parallel()
	c := start(t, t.TempDir(), limit)
	const url, at = "http://localhost/conditions", "Tue, 13 Sep 2022 12:00:00 GMT"
	c.put(url, call{Response: object{"Etag": `"thing"`, "Last-Modified": at}})
	for name, want := range map[string]struct {
		headers object
		status  int
	}{
		"equal":                 {object{"If-None-Match": `"thing"`}, 304},
		"weak":                  {object{"If-None-Match": `   W/"thing"      `}, 304},
		"other":                 {object{"If-None-Match": `"not the thing"`}, 200},
		"list":                  {object{"If-None-Match": `"not the thing",    "thing"    , W/"still not the thing"`}, 304},
		"any":                   {object{"If-None-Match": "    *   "}, 304},
		"changed since":         {object{"If-Modified-Since": "Tue, 13 Sep 2022 11:00:00 GMT"}, 200},
		"changed then":          {object{"If-Modified-Since": at}, 304},
		"unchanged since":       {object{"If-Modified-Since": "Tue, 13 Sep 2022 13:00:00 GMT"}, 304},
		"no date":               {object{"If-Modified-Since": "13 Sep 2022 13:00:00 GMT"}, 200},
		"etag decides":          {object{"If-None-Match": `"x"`, "If-Modified-Since": at}, 200},
		"before a range":        {object{"If-None-Match": `"thing"`, "Range": "bytes=0-1"}, 304},
		"range of the same":     {object{"If-Range": `"thing"`, "Range": "bytes=0-1"}, 206},
		"range of another":      {object{"If-Range": `"other"`, "Range": "bytes=0-1"}, 200},
		"range of the same day": {object{"If-Range": at, "Range": "bytes=0-1"}, 206},
	} {
		if r := c.get(url, want.headers); r.Status != want.status || r.header("etag") != `"thing"` {
			t.Errorf("%s: %+v, want %d", name, r, want.status)
		}
	}
}

func TestRange(t *testing.T) {
	t.Parallel()
	c := start(t, t.TempDir(), limit)
	const url = "http://localhost/range"
	c.put(url, call{Body: "0123456789", Response: object{"Content-Type": "text/plain"}})
	for set, want := range map[string]struct {
		status int
		body   string
		said   string
	}{
		"bytes=2-4":     {206, "234", "bytes 2-4/10"},
		"BYTES = 2-4":   {206, "234", "bytes 2-4/10"},
		"bytes=7-":      {206, "789", "bytes 7-9/10"},
		"bytes=-3":      {206, "789", "bytes 7-9/10"},
		"bytes=8-99":    {206, "89", "bytes 8-9/10"},
		"bytes=-99":     {206, "0123456789", "bytes 0-9/10"},
		"bytes=15-":     {416, "", "bytes */10"},
		"bytes=-0":      {416, "", "bytes */10"},
		"bytes=5-2":     {200, "0123456789", ""},
		"bytes=a-b":     {200, "0123456789", ""},
		"lines=1-2":     {200, "0123456789", ""},
		"bytes=0-,0-":   {200, "0123456789", ""},
		"bytes=2-4,15-": {206, "234", "bytes 2-4/10"},
	} {
		r := c.get(url, object{"Range": set})
		if r.Status != want.status || r.Body != want.body || r.header("content-range") != want.said || r.header("cf-cache-status") != "HIT" {
			t.Errorf("%s: %+v, want %+v", set, r, want)
		}
	}
	checkParts(t, c.get(url, object{"Range": "bytes=1-3,5-6"}))
}

// checkParts checks an answer with two ranges.
func checkParts(t *testing.T, r result) {
	t.Helper()
	kind, params, err := mime.ParseMediaType(r.header("content-type"))
	if err != nil || kind != "multipart/byteranges" || r.Status != 206 {
		t.Fatalf("%+v: %v", r, err)
	}
	var parts []string
	m := multipart.NewReader(strings.NewReader(r.Body), params["boundary"])
	for {
		p, err := m.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in %q", err, r.Body)
		}
		text, err := io.ReadAll(p)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, p.Header.Get("Content-Type")+" "+p.Header.Get("Content-Range")+" "+string(text))
	}
	want := []string{"text/plain bytes 1-3/10 123", "text/plain bytes 5-6/10 56"}
	if diff := cmp.Diff(want, parts); diff != "" {
		t.Error(diff)
	}
}
