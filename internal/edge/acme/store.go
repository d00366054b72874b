package acme

import (
	"bytes"
	"context"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/certmagic"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/lib/aead"
	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/internal/svc"
)

// Prefix begins the keys of all objects of this package.
const Prefix = "_tls/"

// Format is the version of the objects that this program writes, and the newest that it
// reads. It is in clear text after magic.
const Format = 1

const magic = "svcctl certificate "

// store keeps encrypted files in a bucket, for certmagic. Files of another recovery key are
// below another prefix: servers with different keys do not see each other's.
type store struct {
	bucket objstore.Bucket
	aead   cipher.AEAD
	prefix string

	mu    sync.Mutex
	locks map[string]*lock // held ones, by name
}

var _ certmagic.Storage = (*store)(nil)

func newStore(b objstore.Bucket, key svc.Secret) (*store, error) {
	a, err := aead.New([]byte(key.Reveal()), magic+"1")
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(magic + key.Reveal()))
	return &store{bucket: b, aead: a, prefix: Prefix + hex.EncodeToString(sum[:8]) + "/", locks: map[string]*lock{}}, nil
}

// Store implements certmagic.Storage. It tries several times: a certificate that is not
// stored was ordered in vain.
func (s *store) Store(ctx context.Context, key string, value []byte) error {
	head := []byte(magic + strconv.Itoa(Format) + "\n")
	object := s.aead.Seal(head, nil, value, []byte(key)) //nolint:gosec // the nonce is random and part of the result
	retry := backoff.Backoff{First: 100 * time.Millisecond, Max: time.Second}
	for try := 1; ; try++ {
		_, err := s.bucket.Put(ctx, s.prefix+key, bytes.NewReader(object), int64(len(object)), objstore.Condition{})
		if err == nil || try == 5 || retry.Sleep(ctx) != nil {
			return err
		}
	}
}

// Load implements certmagic.Storage.
func (s *store) Load(ctx context.Context, key string) ([]byte, error) {
	object, _, err := objstore.Read(ctx, s.bucket, s.prefix+key, 0, -1)
	if err != nil {
		return nil, missing(err)
	}
	rest, ok := bytes.CutPrefix(object, []byte(magic))
	version, sealed, found := bytes.Cut(rest, []byte("\n"))
	format, err := strconv.Atoi(string(version))
	switch {
	case !ok || !found || err != nil:
		return nil, fmt.Errorf("%s is not a file of certificates", s.prefix+key)
	case format > Format:
		return nil, svc.Errorf(svc.Unprocessable, svc.CodeFormatNewer, "%s has the format %d, this program knows %d", s.prefix+key, format, Format).
			WithHint("run the release that wrote it, or a later one")
	}
	value, err := s.aead.Open(nil, nil, sealed, []byte(key))
	if err != nil {
		return nil, fmt.Errorf("decrypt %s: %w", s.prefix+key, err)
	}
	return value, nil
}

// missing turns an error of the object store into that of a file system.
func missing(err error) error {
	if errors.Is(err, objstore.ErrNotExist) {
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	return err
}

// Delete implements certmagic.Storage.
func (s *store) Delete(ctx context.Context, key string) error {
	below, err := objstore.ListAll(ctx, s.bucket, s.prefix+key+"/")
	if err != nil {
		return err
	}
	keys := []string{s.prefix + key}
	for _, info := range below {
		keys = append(keys, info.Key)
	}
	return s.bucket.Delete(ctx, keys...)
}

// Exists implements certmagic.Storage.
func (s *store) Exists(ctx context.Context, key string) bool {
	_, err := s.Stat(ctx, key)
	return err == nil
}

// Stat implements certmagic.Storage.
func (s *store) Stat(ctx context.Context, key string) (certmagic.KeyInfo, error) {
	info, err := s.bucket.Stat(ctx, s.prefix+key)
	if err == nil {
		return certmagic.KeyInfo{Key: key, Modified: info.Modified, Size: info.Size, IsTerminal: true}, nil
	}
	if !errors.Is(err, objstore.ErrNotExist) {
		return certmagic.KeyInfo{}, err
	}
	below, listErr := s.bucket.List(ctx, s.prefix+key+"/", "", 1)
	if listErr != nil {
		return certmagic.KeyInfo{}, listErr
	}
	if len(below) == 0 {
		return certmagic.KeyInfo{}, missing(err)
	}
	return certmagic.KeyInfo{Key: key}, nil
}

// List implements certmagic.Storage.
func (s *store) List(ctx context.Context, dir string, recursive bool) ([]string, error) {
	start := s.prefix
	if dir = path.Clean(dir); dir != "." {
		start += dir + "/"
	}
	var keys []string
	err := objstore.Each(ctx, s.bucket, start, func(info objstore.Info) error {
		key := strings.TrimPrefix(info.Key, start)
		if first, _, nested := strings.Cut(key, "/"); nested && !recursive {
			key = first
		}
		if key = path.Join(dir, key); !slices.Contains(keys[max(0, len(keys)-1):], key) {
			keys = append(keys, key)
		}
		return nil
	})
	if err == nil && len(keys) == 0 {
		err = fmt.Errorf("%s: %w", start, fs.ErrNotExist)
	}
	return keys, err
}
