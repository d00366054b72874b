package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"os"
	"path"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/lib/atomicfile"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

func newR2(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "r2", Short: "Read and change the buckets of a version", RunE: serveHelp}
	object := &cobra.Command{Use: "object", Short: "List, read, store, copy and delete objects", RunE: serveHelp}
	object.AddCommand(newR2List(k), newR2Get(k), newR2Put(k), newR2Copy(k), newR2Delete(k))
	cmd.AddCommand(object, newR2Sync(k))
	addForce(k, cmd)
	return cmd
}

// r2Flags say which bucket a command is about.
type r2Flags struct{ bindingFlags }

func (f *r2Flags) add(cmd *cobra.Command) { f.addAs(cmd, "bucket") }

// open finds the bucket.
func (f r2Flags) open(ctx context.Context, k *kit.Kit, arg string) (*client.Client, client.R2, error) {
	c, bucket, err := f.named(k, arg)
	if err != nil || bucket.Binding != "" {
		return c, client.R2(bucket), err
	}
	all, err := c.Buckets(ctx, bucket.Project, bucket.Version)
	if err == nil {
		bucket.Binding, err = only(bucket.Version, "buckets", all, func(b api.Bucket) string { return b.Binding })
	}
	return c, client.R2(bucket), err
}

type r2List struct {
	r2Flags
	prefix, delimiter string
	limit             int
}

func newR2List(k *kit.Kit) *cobra.Command {
	var o r2List
	cmd := &cobra.Command{
		Use: "list [PROJECT/]VERSION", Aliases: []string{"ls"}, Short: "List objects", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return listObjects(cmd.Context(), k, o, args[0]) },
	}
	o.add(cmd)
	cmd.Flags().StringVar(&o.prefix, "prefix", "", "prefix of the keys to list")
	cmd.Flags().StringVar(&o.delimiter, "delimiter", "", `group keys by their prefix up to this delimiter, like directories with "/"`)
	cmd.Flags().IntVar(&o.limit, "limit", 1000, "maximum number of results (0 = no limit)")
	return cmd
}

// objectList is what a list of objects shows.
type objectList struct {
	Items    []api.Object `json:"items"`
	Prefixes []string     `json:"prefixes"`
}

func listObjects(ctx context.Context, k *kit.Kit, o r2List, arg string) error {
	c, bucket, err := o.open(ctx, k, arg)
	if err != nil {
		return err
	}
	all := objectList{[]api.Object{}, []string{}}
	const page = 1000
	var cut bool
	for cursor := ""; ; {
		limit := page
		if o.limit > 0 {
			limit = min(page, o.limit-len(all.Items)-len(all.Prefixes))
		}
		p, err := c.Objects(ctx, bucket, o.prefix, o.delimiter, client.Page{Limit: limit, Cursor: cursor})
		if err != nil {
			return err
		}
		all.Items, all.Prefixes = append(all.Items, p.Items...), append(all.Prefixes, p.Prefixes...)
		if cut = p.NextCursor != nil && o.limit > 0 && len(all.Items)+len(all.Prefixes) >= o.limit; cut || p.NextCursor == nil {
			break
		}
		cursor = *p.NextCursor
	}
	err = k.Print(all, func() {
		var rows [][]string
		for _, prefix := range all.Prefixes {
			rows = append(rows, []string{prefix, "", "", ""})
		}
		for _, o := range all.Items {
			rows = append(rows, []string{o.Key, fmt.Sprint(o.SizeBytes), o.UploadedAt.UTC().Format(time.RFC3339), o.HTTPMetadata.ContentType})
		}
		k.Table([]string{"KEY", "BYTES", "UPLOADED", "TYPE"}, rows)
	})
	if cut {
		k.Notef("only the first %d; --limit 0 for all", o.limit)
	}
	return err
}

type r2Get struct {
	r2Flags
	file string
}

func newR2Get(k *kit.Kit) *cobra.Command {
	var o r2Get
	cmd := &cobra.Command{
		Use: "get [PROJECT/]VERSION KEY", Short: "Write an object to standard output or to a file", Args: cobra.ExactArgs(2),
		Long: "Writes the body of an object to standard output, or to a file. With -o json it prints the metadata of the object, and writes the body only with --file.",
		RunE: func(cmd *cobra.Command, args []string) error { return getObject(cmd.Context(), k, o, args[0], args[1]) },
	}
	o.add(cmd)
	cmd.Flags().StringVar(&o.file, "file", "", "write the body to this file")
	return cmd
}

func getObject(ctx context.Context, k *kit.Kit, o r2Get, arg, key string) error {
	c, bucket, err := o.open(ctx, k, arg)
	if err != nil {
		return err
	}
	object, body, err := c.GetObject(ctx, bucket, key)
	if err != nil {
		return err
	}
	defer body.Close()
	switch {
	case o.file != "":
		err = saveObject(k.Path(o.file), body)
	case !k.JSON():
		_, err = io.Copy(k.Out, body)
	}
	if err != nil || !k.JSON() {
		return err
	}
	return k.Print(object, nil)
}

// saveObject writes the file that a person named: through a link, into a pipe or a device. A plain
// file keeps its content when the body ends early, and its mode.
func saveObject(name string, body io.Reader) error {
	f, err := atomicfile.Create(name, 0o600)
	if err != nil {
		return fmt.Errorf("writing the object: %w", err)
	}
	if _, err = io.Copy(f, body); err != nil {
		f.Abort()
	} else {
		err = f.Commit()
	}
	if err != nil {
		return fmt.Errorf("writing the object: %w", err)
	}
	return nil
}

type r2Put struct {
	r2Flags
	file, class string
	http        api.HTTPMetadata
	custom      map[string]string
}

func newR2Put(k *kit.Kit) *cobra.Command {
	var o r2Put
	cmd := &cobra.Command{
		Use: "put [PROJECT/]VERSION KEY --file FILE", Short: "Store an object", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return putObject(cmd.Context(), k, o, args[0], args[1]) },
	}
	o.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&o.file, "file", "", `read the body from this file; "-" for standard input`)
	flags.StringVar(&o.http.ContentType, "content-type", "", "Content-Type header to store (default: from the extension of the key)")
	flags.StringVar(&o.http.ContentDisposition, "content-disposition", "", "Content-Disposition header to store")
	flags.StringVar(&o.http.ContentEncoding, "content-encoding", "", "Content-Encoding header to store")
	flags.StringVar(&o.http.ContentLanguage, "content-language", "", "Content-Language header to store")
	flags.StringVar(&o.http.CacheControl, "cache-control", "", "Cache-Control header to store")
	flags.StringToStringVar(&o.custom, "metadata", nil, "custom metadata, KEY=VALUE; may be repeated")
	flags.StringVar(&o.class, "storage-class", "", "Standard or InfrequentAccess")
	return cmd
}

func putObject(ctx context.Context, k *kit.Kit, o r2Put, arg, key string) error {
	if o.file == "" {
		return kit.Usagef("missing file: use --file FILE, or --file - for standard input")
	}
	body, size, err := openBody(k, o.file)
	if err != nil {
		return err
	}
	defer body.Close()
	c, bucket, err := o.open(ctx, k, arg)
	if err != nil {
		return err
	}
	o.http.ContentType = cmp.Or(o.http.ContentType, mime.TypeByExtension(path.Ext(key)))
	progress := k.NewProgress()
	defer progress.Abort()
	progress.Stage("storing")
	object := client.NewObject{
		HTTP: o.http, Custom: o.custom, StorageClass: o.class,
		Progress: func(sent int64) { progress.Bytes(sent, size) },
	}
	if err := c.PutObject(ctx, bucket, key, body, size, object); err != nil {
		return err
	}
	progress.Done("")
	return changed(k, change{Key: key, Binding: bucket.Binding, ProjectID: bucket.Project, VersionID: bucket.Version, Result: "stored"})
}

// openBody opens a file, or standard input by way of a file: the length of an
// object is sent before it.
func openBody(k *kit.Kit, name string) (body *os.File, size int64, err error) {
	if name != "-" {
		body, err = os.Open(k.Path(name))
	} else if body, err = os.CreateTemp("", "svcctl-"); err == nil {
		_, err = io.Copy(body, k.In)
		if err == nil {
			_, err = body.Seek(0, io.SeekStart)
		}
		err = errors.Join(err, os.Remove(body.Name()))
	}
	if err != nil {
		return nil, 0, fmt.Errorf("reading the body: %w", err)
	}
	info, err := body.Stat()
	if err == nil && info.IsDir() {
		err = kit.Usagef("%s is a directory", name)
	}
	if err != nil {
		return nil, 0, errors.Join(err, body.Close())
	}
	return body, info.Size(), nil
}

func newR2Delete(k *kit.Kit) *cobra.Command {
	var o r2Flags
	cmd := &cobra.Command{
		Use: "delete [PROJECT/]VERSION KEY", Short: "Delete an object", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return deleteObject(cmd.Context(), k, o, args[0], args[1])
		},
	}
	o.add(cmd)
	addYes(k, cmd)
	return cmd
}

func deleteObject(ctx context.Context, k *kit.Kit, o r2Flags, arg, key string) error {
	c, bucket, err := o.open(ctx, k, arg)
	if err != nil {
		return err
	}
	if err := askProduction(ctx, k, c, bindingOf(bucket), fmt.Sprintf("deletes the object %s from %s", key, bucket.Binding)); err != nil {
		return err
	}
	if err := c.DeleteObject(ctx, bucket, key); err != nil {
		return err
	}
	return changed(k, change{Key: key, Binding: bucket.Binding, ProjectID: bucket.Project, VersionID: bucket.Version, Result: "deleted"})
}
