package objects

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// listing is a page of a bucket's objects.
type listing struct {
	objects  []object
	prefixes []string
	last     string // the key to continue after; "" when the page is the last
}

// filter is what a page shows.
type filter struct {
	prefix, delimiter, after string
	limit                    int
}

// filter reads what q asks for. A cursor is the key to continue after.
func (q *request) filter() (f filter, err error) {
	f = filter{prefix: q.Prefix, delimiter: q.Delimiter, after: q.StartAfter, limit: maxListed}
	if q.Limit != nil {
		f.limit = *q.Limit
	}
	if f.limit < 1 || f.limit > maxListed {
		return f, errLimit
	}
	if len(q.Include) > 0 {
		f.limit = min(f.limit, maxDescribed)
	}
	if q.Cursor != nil {
		after, err := base64.StdEncoding.DecodeString(*q.Cursor)
		if err != nil || !utf8.Valid(after) || checkLength(string(after)) != nil {
			return f, invalid("The cursor is not valid.")
		}
		f.after = max(f.after, string(after))
	}
	return f, nil
}

// list gives a page in the order of keys. Keys that have the delimiter after the
// prefix are in it once, as what they begin with.
func (b *bucket) list(ctx context.Context, f filter) (page listing, err error) {
	err = b.db.Read(ctx, func(c *raw.Conn) error {
		if f.delimiter == "" { // one query
			page, err = b.page(c, f)
			return err
		}
		return c.InTx("BEGIN", func() error {
			page, err = b.page(c, f)
			return err
		})
	})
	return page, err
}

// page goes through the keys in steps: behind each common prefix it begins anew.
func (b *bucket) page(c *raw.Conn, f filter) (page listing, err error) {
	from := f.prefix
	for {
		left := f.limit - len(page.objects) - len(page.prefixes)
		found, group, err := b.upToGroup(c, f, from, left+1)
		if err != nil {
			return page, err
		}
		if len(found) > left || len(found) == left && group != "" { // there is more
			page.objects = append(page.objects, found[:left]...)
			page.last, err = b.lastOf(c, page)
			return page, err
		}
		page.objects = append(page.objects, found...)
		if group == "" {
			return page, nil
		}
		page.prefixes = append(page.prefixes, group)
		behind, bounded := beyond(group)
		if !bounded {
			return page, nil
		}
		from = behind
	}
}

// errGroup ends a query at the first key that is one of a group.
var errGroup = errors.New("a group begins")

// upToGroup gives at most limit objects from the key from on, up to the first
// that belongs to a group.
func (b *bucket) upToGroup(c *raw.Conn, f filter, from string, limit int) (found []object, group string, err error) {
	err = c.Query(sqlList, []any{b.id, f.after, from, bound(f.prefix), limit}, func(s *raw.Stmt) error {
		if group = f.group(s.Text(1)); group != "" {
			return errGroup
		}
		var o object
		o.scan(s)
		found = append(found, o)
		return nil
	})
	if errors.Is(err, errGroup) {
		err = nil
	}
	return found, group, err
}

// group is what key has in common with others, "" if it stands for itself.
func (f filter) group(key string) string {
	if f.delimiter == "" {
		return ""
	}
	head, _, found := strings.Cut(key[len(f.prefix):], f.delimiter)
	if !found {
		return ""
	}
	return f.prefix + head + f.delimiter
}

// lastOf is the last key that a page covers.
func (b *bucket) lastOf(c *raw.Conn, page listing) (last string, err error) {
	if n := len(page.objects); n > 0 {
		last = page.objects[n-1].key
	}
	if n := len(page.prefixes); n > 0 && page.prefixes[n-1] > last {
		group := page.prefixes[n-1]
		err = c.Query(sqlLast, []any{b.id, group, bound(group)}, func(s *raw.Stmt) error {
			last = s.Text(0)
			return nil
		})
	}
	return last, err
}

// wire is the page as workerd reads it, with the metadata that include asks for.
func (page *listing) wire(include []int) wireListing {
	w := wireListing{Objects: make([]wireObject, len(page.objects)), Prefixes: page.prefixes, Truncated: page.last != ""}
	for i := range page.objects {
		o := &page.objects[i]
		if !slices.Contains(include, includeHTTP) {
			o.http = ""
		}
		if !slices.Contains(include, includeCustom) {
			o.custom = ""
		}
		w.Objects[i] = o.wire()
	}
	if w.Truncated {
		w.Cursor = base64.StdEncoding.EncodeToString([]byte(page.last))
	}
	if w.Prefixes == nil {
		w.Prefixes = []string{}
	}
	return w
}

// beyond is the least string above all that begin with prefix, compared by
// bytes; bounded is false if no such key exists.
func beyond(prefix string) (end string, bounded bool) {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] < 0xff {
			return prefix[:i] + string([]byte{prefix[i] + 1}), true
		}
	}
	return "", false
}

// bound is beyond for a query: NULL if absent.
func bound(prefix string) any {
	if end, bounded := beyond(prefix); bounded {
		return end
	}
	return nil
}
