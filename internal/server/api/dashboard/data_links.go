package dashboard

import "net/url"

// link returns the address of the store with one parameter.
func (b *dataBody) link(name, value string) string {
	return "?" + url.Values{name: {value}}.Encode()
}

// more sets the address of the next page.
func (b *dataBody) more(c *call, cursor *string) {
	if cursor == nil {
		return
	}
	q := c.r.URL.Query()
	q.Set("cursor", *cursor)
	if b.Table != "" {
		q.Set("table", b.Table)
	}
	b.Next = "?" + q.Encode()
}
