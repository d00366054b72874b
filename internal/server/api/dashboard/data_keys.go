package dashboard

import (
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// showKeys shows keys, or the value of one.
func (b *dataBody) showKeys(c *call, v api.Version) error {
	q, kv := c.r.URL.Query(), client.KV{Project: v.ProjectID, Version: v.ID, Binding: b.Name}
	b.Prefix, b.Key = q.Get("prefix"), q.Get("key")
	if b.Key != "" {
		value, err := c.api.GetValue(c.r.Context(), kv, b.Key)
		b.Value = valueOf(value.Data)
		return err
	}
	page, err := c.api.Keys(c.r.Context(), kv, b.Prefix, client.Page{Limit: pageSize, Cursor: q.Get("cursor")})
	if err != nil {
		return err
	}
	g := grid{Columns: []string{"Key", "Metadata"}}
	for _, k := range page.Items {
		g.Rows = append(g.Rows, []cell{{Text: clip(k.Name), To: b.link("key", k.Name)}, {Text: clip(string(k.Metadata))}})
	}
	b.Grids = []grid{g}
	b.more(c, page.NextCursor)
	return nil
}

// showObjects shows the objects of a bucket.
func (b *dataBody) showObjects(c *call, v api.Version) error {
	q := c.r.URL.Query()
	b.Prefix = q.Get("prefix")
	bucket := client.R2{Project: v.ProjectID, Version: v.ID, Binding: b.Name}
	page, err := c.api.Objects(c.r.Context(), bucket, b.Prefix, "/", client.Page{Limit: pageSize, Cursor: q.Get("cursor")})
	if err != nil {
		return err
	}
	g := grid{Columns: []string{"Key", "Size", "Type", "Uploaded"}}
	for _, p := range page.Prefixes {
		g.Rows = append(g.Rows, []cell{{Text: clip(p), To: b.link("prefix", p)}, {}, {}, {}})
	}
	for _, o := range page.Items {
		g.Rows = append(g.Rows, []cell{{Text: clip(o.Key)}, {Text: size(o.SizeBytes)}, {Text: clip(o.HTTPMetadata.ContentType)}, {Text: clock(api.At(o.UploadedAt))}})
	}
	b.Grids = []grid{g}
	b.more(c, page.NextCursor)
	return nil
}
