package cache_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// What a response says decides whether it is stored, and for how long.
func TestLifetime(t *testing.T) {
	t.Parallel()
	c := start(t, t.TempDir(), limit)
	in := func(d time.Duration) string { return c.now().Add(d).UTC().Format(http.TimeFormat) }
	for name, want := range map[string]struct {
		response object
		request  object
		lives    time.Duration // 0 for a response that is not stored
	}{
		"max-age":                 {object{"Cache-Control": "max-age=100"}, nil, 100 * time.Second},
		"s-maxage":                {object{"Cache-Control": "s-maxage=100, max-age=1000"}, nil, 100 * time.Second},
		"upper case, quoted":      {object{"Cache-Control": `MAX-AGE="100"`}, nil, 100 * time.Second},
		"age":                     {object{"Cache-Control": "max-age=150", "Age": "50"}, nil, 100 * time.Second},
		"expires":                 {object{"Cache-Control": "", "Expires": in(100 * time.Second), "Date": in(0)}, nil, 100 * time.Second},
		"max-age before expires":  {object{"Cache-Control": "max-age=100", "Expires": "0"}, nil, 100 * time.Second},
		"last-modified":           {object{"Cache-Control": "", "Last-Modified": in(-1000 * time.Second), "Date": in(0)}, nil, 100 * time.Second},
		"private=set-cookie":      {object{"Cache-Control": "private=set-cookie, max-age=100", "Set-Cookie": "a=b"}, nil, 100 * time.Second},
		"private quoted":          {object{"Cache-Control": `max-age=100, private="Set-Cookie"`, "Set-Cookie": "a=b"}, nil, 100 * time.Second},
		"request's cache-control": {object{"Cache-Control": "max-age=100"}, object{"Cache-Control": "no-store"}, 100 * time.Second},
		"authorized and public":   {object{"Cache-Control": "public, max-age=100"}, object{"Authorization": "x"}, 100 * time.Second},
		"nothing":                 {object{"Cache-Control": ""}, nil, 0},
		"private":                 {object{"Cache-Control": "private, max-age=100"}, nil, 0},
		"no-store":                {object{"Cache-Control": "no-store, max-age=100"}, nil, 0},
		"no-cache":                {object{"Cache-Control": "no-cache, max-age=100"}, nil, 0},
		"pragma":                  {object{"Cache-Control": "", "Pragma": "no-cache", "Expires": in(time.Hour)}, nil, 0},
		"set-cookie":              {object{"Cache-Control": "max-age=100", "Set-Cookie": "a=b"}, nil, 0},
		"max-age=0":               {object{"Cache-Control": "max-age=0"}, nil, 0},
		"no number":               {object{"Cache-Control": "max-age=soon"}, nil, 0},
		"expired":                 {object{"Cache-Control": "", "Expires": in(-time.Second)}, nil, 0},
		"expires=0":               {object{"Cache-Control": "", "Expires": "0"}, nil, 0},
		"too old":                 {object{"Cache-Control": "max-age=100", "Age": "100"}, nil, 0},
		"authorized":              {object{"Cache-Control": "max-age=100"}, object{"Authorization": "x"}, 0},
	} {
		url := "http://localhost/" + strings.ReplaceAll(name, " ", "-")
		c.put(url, call{Response: want.response, Headers: want.request})
		if r := c.get(url, nil); r.Miss != (want.lives == 0) || r.header("set-cookie") != "" {
			t.Errorf("%s: %+v", name, r)
		}
		if want.lives == 0 {
			continue
		}
		before := c.ahead.Load()
		c.advance(want.lives / 2)
		if r := c.get(url, nil); r.Miss {
			t.Errorf("%s: it is gone after half its time", name)
		}
		c.advance(want.lives/2 + time.Second)
		if r := c.get(url, nil); !r.Miss {
			t.Errorf("%s: it is there after its time", name)
		}
		c.ahead.Store(before)
	}
}

// The cookie goes, the rest of Cache-Control stays.
func TestWithoutCookie(t *testing.T) {
	t.Parallel()
	c := start(t, t.TempDir(), limit)
	c.put("http://localhost/cookie", call{Response: object{"Cache-Control": "public, private=set-cookie, max-age=60", "Set-Cookie": "a=b"}})
	if r := c.get("http://localhost/cookie", nil); r.header("cache-control") != "public, max-age=60" || r.header("set-cookie") != "" {
		t.Errorf("%+v", r)
	}
}

// What workerd itself refuses, and what a put must not do.
func TestRefused(t *testing.T) {
	t.Parallel()
	c := start(t, t.TempDir(), limit)
	for words, one := range map[string]call{
		"Vary":        {Response: object{"Vary": "*", "Cache-Control": "max-age=1"}},
		"206":         {Status: 206},
		"Invalid URL": {URL: "no-url", Plain: true},
	} {
		one.Do = "put"
		if one.URL == "" {
			one.URL = "http://localhost/refused"
		}
		if r := c.calls(one)[0]; !strings.Contains(strings.ToLower(r.Error), strings.ToLower(words)) {
			t.Errorf("%+v: %+v, want an error with %q", one, r, words)
		}
	}
}

func TestVary(t *testing.T) {
	t.Parallel()
	c := start(t, t.TempDir(), limit)
	const url = "http://localhost/vary"
	for _, language := range []string{"de", "en", "en"} {
		c.put(url, call{Headers: object{"Accept-Language": language}, Body: "in " + language, Response: object{"Vary": "accept-language, Accept-Encoding"}})
	}
	for language, want := range map[string]string{"de": "in de", "en": "in en", "fr": ""} {
		if r := c.get(url, object{"Accept-Language": language, "Accept-Encoding": "br"}); r.Body != want || r.Miss != (want == "") {
			t.Errorf("%s: %+v", language, r)
		}
	}
	if r := c.get(url, nil); !r.Miss {
		t.Errorf("a request without the header got %+v", r)
	}
	if r := c.call(call{Do: "delete", URL: url}); r.Value != "true" {
		t.Errorf("delete gives %s", r.Value)
	}
	if r := c.get(url, object{"Accept-Language": "de"}); !r.Miss {
		t.Errorf("after the delete: %+v", r)
	}
}

// Variants of one key are bounded, and each of them is found.
func TestVariants(t *testing.T) {
	t.Parallel()
	c := start(t, t.TempDir(), limit)
	const url, n = "http://localhost/variants", 40
	for i := range n {
		c.put(url, call{Headers: object{"X-N": fmt.Sprint(i)}, Body: fmt.Sprint(i), Response: object{"Vary": "X-N"}})
	}
	found := 0
	for i := range n {
		r := c.get(url, object{"X-N": fmt.Sprint(i)})
		if !r.Miss {
			found++
		}
		if i >= n-32 && r.Body != fmt.Sprint(i) {
			t.Errorf("%d: %+v", i, r)
		}
	}
	if found != 32 {
		t.Errorf("%d variants are kept", found)
	}
}

// A body that was encoded by its origin stays so, and the worker reads it decoded.
func TestEncoded(t *testing.T) {
	t.Parallel()
	c := start(t, t.TempDir(), limit)
	c.put("http://localhost/gzip", call{Body: strings.Repeat("text ", 1000), Response: object{"Content-Encoding": "gzip"}})
	r := c.get("http://localhost/gzip", nil)
	if r.Body != strings.Repeat("text ", 1000) || r.header("content-encoding") != "gzip" {
		t.Errorf("%.300v", r)
	}
}
