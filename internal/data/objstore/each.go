package objstore

import (
	"context"
	"strings"
)

// Each calls do for every object below prefix in key order, until do returns an
// error. It has one page of the listing in memory at a time.
func Each(ctx context.Context, b Bucket, prefix string, do func(Info) error) error {
	const page = 1000
	for after := ""; ; {
		infos, err := listPage(ctx, b, prefix, after, page)
		if err != nil {
			return err
		}
		for _, info := range infos {
			if err := do(info); err != nil {
				return err
			}
		}
		if len(infos) < page {
			return nil
		}
		after = infos[len(infos)-1].Key
	}
}

// Roots returns the first parts of the keys, "a" for "a/b/c", in order, with one
// request for each. It skips keys of one part.
func Roots(ctx context.Context, b Bucket) ([]string, error) {
	var roots []string
	for after := ""; ; {
		infos, err := listPage(ctx, b, "", after, 1)
		if err != nil || len(infos) == 0 {
			return roots, err
		}
		after = infos[0].Key
		if root, _, ok := strings.Cut(after, "/"); ok {
			roots = append(roots, root)
			after = root + "0" // "0" comes right after "/"
		}
	}
}
