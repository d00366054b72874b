package cache_test

import "testing"

func TestDelete(t *testing.T) {
	t.Parallel()
	c := start(t, t.TempDir(), limit)
	const url = "http://localhost/delete"
	c.put(url, call{})
	for _, want := range []string{"true", "false"} {
		if r := c.call(call{Do: "delete", URL: url}); r.Value != want {
			t.Errorf("delete gives %s, want %s", r.Value, want)
		}
	}
	if r := c.get(url, nil); !r.Miss {
		t.Errorf("%+v", r)
	}
}

// A key is the whole URL, unless the request has cf.cacheKey.
func TestKeys(t *testing.T) {
	t.Parallel()
	c := start(t, t.TempDir(), limit)
	urls := []string{
		"http://localhost/", "https://localhost/", "http://other/", "http://localhost:81/", "http://localhost/a", "http://localhost/A",
		"http://localhost/?a=1", "http://localhost/?a=2", "http://localhost/a/", "http://localhost/%61", "http://localhost//a",
	}
	for _, url := range urls {
		c.put(url, call{Body: url})
	}
	for _, url := range urls {
		if r := c.get(url, nil); r.Body != url {
			t.Errorf("%s: %+v", url, r)
		}
	}
	if r := c.get("http://localhost/#fragment", nil); r.Body != "http://localhost/" {
		t.Errorf("a fragment counts: %+v", r)
	}
	one, two := map[string]any{"cacheKey": "1"}, map[string]any{"cacheKey": "2"}
	c.put(urls[0], call{CF: one, Body: "one"})
	c.put(urls[0], call{CF: two, Body: "two"})
	for _, want := range []struct {
		cf   map[string]any
		body string
	}{{one, "one"}, {two, "two"}, {nil, urls[0]}} {
		if r := c.call(call{Do: "match", URL: urls[0], CF: want.cf}); r.Body != want.body {
			t.Errorf("%v: %+v", want.cf, r)
		}
	}
	if r := c.call(call{Do: "delete", URL: "http://elsewhere/", CF: one}); r.Value != "true" {
		t.Errorf("delete by key gives %s", r.Value)
	}
}

// A visitor's cf, which many workers pass on with the request, is no key.
func TestForeignCF(t *testing.T) {
	t.Parallel()
	c := start(t, t.TempDir(), limit)
	c.put("http://localhost/cf", call{CF: map[string]any{"country": "DE", "cacheTtl": 5}})
	if r := c.call(call{Do: "match", URL: "http://localhost/cf", CF: map[string]any{"colo": "FRA"}}); r.Miss {
		t.Errorf("%+v", r)
	}
}

func TestNamedCaches(t *testing.T) {
	t.Parallel()
	c := start(t, t.TempDir(), limit)
	const url = "http://localhost/disjoint"
	names := []string{"1", "2", "my cache/é", "default"}
	c.put(url, call{Body: "of the default"})
	for _, name := range names {
		c.put(url, call{Cache: &name, Body: "of " + name})
	}
	for _, name := range names {
		if r := c.call(call{Do: "match", Cache: &name, URL: url}); r.Body != "of "+name {
			t.Errorf("%s: %+v", name, r)
		}
		if r := c.call(call{Do: "delete", Cache: &name, URL: url}); r.Value != "true" {
			t.Errorf("%s: delete gives %s", name, r.Value)
		}
	}
	if r := c.get(url, nil); r.Body != "of the default" {
		t.Errorf("%+v", r)
	}
}
