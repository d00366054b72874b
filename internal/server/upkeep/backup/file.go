package backup

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/lib/atomicfile"
	"github.com/svcctl/svcctl/internal/svc"
)

// WriteFile writes the copies in a bucket to one file, a tar archive of the objects, and
// returns its size in bytes. It replaces a file that ReadFile accepts, and no other: neither a pipe nor
// a device, which cannot be read back.
func WriteFile(ctx context.Context, path string, b objstore.Bucket) (size int64, err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return 0, fmt.Errorf("replace the backup: %w", errNoBackup(path, errors.New("not a plain file")))
	}
	if _, err := ReadFile(ctx, path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, fmt.Errorf("replace the backup: %w", err)
	}
	var file bytes.Buffer
	w := tar.NewWriter(&file)
	err = objstore.Each(ctx, b, Root, func(i objstore.Info) error {
		data, _, err := objstore.Read(ctx, b, i.Key, 0, -1)
		if err == nil {
			err = w.WriteHeader(&tar.Header{Name: i.Key, Mode: 0o600, Size: int64(len(data)), Typeflag: tar.TypeReg})
		}
		if err == nil {
			_, err = w.Write(data)
		}
		return err
	})
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		err = replace(path, file.Bytes())
	}
	if err != nil {
		return 0, fmt.Errorf("write the backup: %w", err)
	}
	return int64(file.Len()), nil
}

// replace writes the file that path leads to, which keeps its mode.
func replace(path string, data []byte) error {
	f, err := atomicfile.Create(path, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err != nil {
		f.Abort()
		return err
	}
	return f.Commit()
}

// ReadFile returns the copies in a file that WriteFile wrote, as a bucket in memory. Errors:
// NotFound, copy_missing, for a file that is no backup.
func ReadFile(ctx context.Context, path string) (objstore.Bucket, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	b, r := &memstore.Bucket{}, tar.NewReader(file)
	for n := 0; ; n++ {
		head, err := r.Next()
		if errors.Is(err, io.EOF) && n > 0 {
			return b, nil
		}
		if err != nil || !strings.HasPrefix(head.Name, Root) {
			return nil, errNoBackup(path, err)
		}
		data, err := io.ReadAll(r)
		if err == nil {
			_, err = b.Put(ctx, head.Name, bytes.NewReader(data), int64(len(data)), objstore.Condition{})
		}
		if err != nil {
			return nil, errNoBackup(path, err)
		}
	}
}

func errNoBackup(path string, cause error) error {
	return svc.Errorf(svc.NotFound, svc.CodeCopyMissing, "%s is not a complete backup of a registry", path).
		WithHint("name a file that svcctl admin backup wrote, or one that does not exist").Because(cause)
}
