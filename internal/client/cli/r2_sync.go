package cli

import (
	"context"
	"crypto/md5" //nolint:gosec // the etag of an object is its MD5
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"mime"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

type r2Sync struct {
	r2Flags
	prefix        string
	download, dry bool
	remove        bool
}

func newR2Sync(k *kit.Kit) *cobra.Command {
	var o r2Sync
	cmd := &cobra.Command{
		Use: "sync [PROJECT/]VERSION DIR", Short: "Make a bucket equal to a directory, or a directory to a bucket", Args: cobra.ExactArgs(2),
		Long: "Stores each file of a directory whose content the bucket does not have, under its path. With --download it writes the objects of the\n" +
			"bucket to the directory instead. Content is compared by size and MD5; an object that was uploaded in parts by size alone.",
		Example: "  svcctl r2 sync shop/staging ./public --prefix public/ --delete\n  svcctl r2 sync staging ./copy --download",
		RunE:    func(cmd *cobra.Command, args []string) error { return syncBucket(cmd.Context(), k, o, args) },
	}
	o.add(cmd)
	f := cmd.Flags()
	f.StringVar(&o.prefix, "prefix", "", "prefix of the keys, before the path of the file")
	f.BoolVar(&o.download, "download", false, "write the objects to the directory")
	f.BoolVar(&o.remove, "delete", false, "delete what the source does not have")
	f.BoolVar(&o.dry, "dry-run", false, "only list what would change")
	addYes(k, cmd)
	return cmd
}

// syncStep is one change: of a key, and the file of the same name.
type syncStep struct {
	Action string `json:"action"` // upload, download or delete
	Key    string `json:"key"`
	Bytes  int64  `json:"bytes,omitempty"`
	file   string
}

func syncBucket(ctx context.Context, k *kit.Kit, o r2Sync, args []string) error {
	dir := k.Path(args[1])
	if info, err := os.Stat(dir); !o.download && (err != nil || !info.IsDir()) {
		return kit.Usagef("%s is not a directory", args[1])
	}
	c, bucket, err := o.open(ctx, k, args[0])
	if err != nil {
		return err
	}
	files, others, err := filesOf(dir, o.prefix)
	if err != nil {
		return err
	}
	if len(others) > 0 {
		k.Notef("left out, because they are no plain files: %s", kit.Clean(strings.Join(others, ", ")))
	}
	objects := map[string]api.Object{}
	for object, err := range c.AllObjects(ctx, bucket, o.prefix) {
		if err != nil {
			return err
		}
		objects[object.Key] = object
	}
	if !o.download { // what stands for an object without being a plain file does not delete it
		for _, key := range others {
			delete(objects, key)
		}
	}
	steps, err := o.plan(dir, files, objects)
	if err != nil {
		return err
	}
	if !o.dry {
		if err := o.ask(ctx, k, c, bucket, steps); err != nil {
			return err
		}
		if err := runSteps(ctx, c, bucket, steps); err != nil {
			return err
		}
	}
	return k.Print(steps, func() {
		for _, s := range steps {
			k.Printf("%-8s  %s", s.Action, kit.Clean(s.Key))
		}
		k.Notef("%s", count(int64(len(steps)), "change"))
	})
}

// ask asks before objects of production are deleted.
func (o r2Sync) ask(ctx context.Context, k *kit.Kit, c *client.Client, bucket client.R2, steps []syncStep) error {
	deleted := 0
	for _, s := range steps {
		if s.Action == "delete" && !o.download {
			deleted++
		}
	}
	if deleted == 0 {
		return nil
	}
	return askProduction(ctx, k, c, bindingOf(bucket), fmt.Sprintf("deletes %s from %s", count(int64(deleted), "object"), bucket.Binding))
}

// filesOf lists the regular files below dir, by their keys, and the keys of what is neither such a file nor
// a directory. A missing dir has none.
func filesOf(dir, prefix string) (files map[string]string, others []string, err error) {
	files = map[string]string{}
	err = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && name == dir {
			return fs.SkipAll
		}
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		key := prefix + filepath.ToSlash(rel)
		if e.Type().IsRegular() {
			files[key] = name
		} else {
			others = append(others, key)
		}
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("listing the directory: %w", err)
	}
	return files, others, nil
}

// plan compares both sides.
func (o r2Sync) plan(dir string, files map[string]string, objects map[string]api.Object) (steps []syncStep, err error) {
	steps = []syncStep{}
	for _, key := range slices.Sorted(maps.Keys(files)) {
		object, there := objects[key]
		same := false
		if there {
			if same, err = equal(files[key], object); err != nil {
				return nil, err
			}
		}
		switch {
		case !there && o.download && o.remove:
			steps = append(steps, syncStep{Action: "delete", Key: key, file: files[key]})
		case !same && !o.download:
			steps = append(steps, syncStep{Action: "upload", Key: key, file: files[key]})
		case there && !same:
			steps = append(steps, syncStep{Action: "download", Key: key, Bytes: object.SizeBytes, file: files[key]})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(objects)) {
		if files[key] != "" {
			continue
		}
		name := strings.TrimPrefix(key, o.prefix)
		switch {
		case !o.download && o.remove:
			steps = append(steps, syncStep{Action: "delete", Key: key})
		case o.download && !filepath.IsLocal(filepath.FromSlash(name)): // "../x", "/x" or ""
			return nil, fmt.Errorf("the object %q has no place below the directory: fetch it with svcctl r2 object get", key)
		case o.download:
			steps = append(steps, syncStep{Action: "download", Key: key, Bytes: objects[key].SizeBytes, file: filepath.Join(dir, filepath.FromSlash(name))})
		}
	}
	return steps, nil
}

// equal reports whether a file has the content of an object.
func equal(name string, object api.Object) (bool, error) {
	f, err := os.Open(name)
	if err != nil {
		return false, fmt.Errorf("comparing a file: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() != object.SizeBytes || strings.Contains(object.Etag, "-") {
		return err == nil && info.Size() == object.SizeBytes, err
	}
	sum := md5.New() //nolint:gosec // as above
	if _, err := io.Copy(sum, f); err != nil {
		return false, fmt.Errorf("comparing a file: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)) == object.Etag, nil
}

func runSteps(ctx context.Context, c *client.Client, bucket client.R2, steps []syncStep) error {
	requests, ctx := errgroup.WithContext(ctx)
	requests.SetLimit(bulkParallel)
	for _, s := range steps {
		requests.Go(func() error {
			if err := s.run(ctx, c, bucket); err != nil {
				return fmt.Errorf("%s of %s: %w", s.Action, s.Key, err)
			}
			return nil
		})
	}
	return requests.Wait()
}

func (s syncStep) run(ctx context.Context, c *client.Client, bucket client.R2) error {
	switch {
	case s.Action == "delete" && s.file != "":
		return os.Remove(s.file)
	case s.Action == "delete":
		return c.DeleteObject(ctx, bucket, s.Key)
	case s.Action == "download":
		_, body, err := c.GetObject(ctx, bucket, s.Key)
		if err != nil {
			return err
		}
		defer body.Close()
		if err := os.MkdirAll(filepath.Dir(s.file), 0o755); err != nil { //nolint:gosec // the user's umask decides
			return err
		}
		if info, err := os.Lstat(s.file); err == nil && !info.Mode().IsRegular() { // it may lead out of the directory
			return fmt.Errorf("%s is not a plain file: move it away", s.file)
		}
		return saveObject(s.file, body)
	}
	f, err := os.Open(s.file)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	object := client.NewObject{HTTP: api.HTTPMetadata{ContentType: mime.TypeByExtension(path.Ext(s.Key))}}
	return c.PutObject(ctx, bucket, s.Key, f, info.Size(), object)
}
