package site

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/svcctl/svcctl/internal/lib/atomicfile"
)

const (
	// variantsDir is the directory of compressed assets, beside the bundle's files.
	variantsDir = "compressed"
	// minVariant is the size in bytes from which an asset is compressed.
	minVariant = 1 << 10
	// The levels: an asset is compressed once and sent often.
	brotliLevel = 6
	gzipLevel   = gzip.BestCompression
	// zstdWindow is the largest window that browsers accept.
	zstdWindow = 8 << 20
)

// variants are the compressed forms of assets. Each is made when a client asks for it
// first, and kept on disk by the hash of its content.
type variants struct {
	dir  string
	made sync.Map   // "<hash>.<encoding>" to *variant
	busy sync.Mutex // one is made at a time: compressing takes a processor
}

// variant is one compressed form. size and ok are valid when known is set.
type variant struct {
	once  sync.Once
	known atomic.Bool
	name  string
	path  string
	size  int64
	ok    bool
}

// variant returns the compressed form of an asset, which may not be made yet; nil for an
// unknown encoding.
func (s *Site) variant(f file, encoding string) *variant {
	if encoding != "gzip" && encoding != "br" && encoding != "zstd" {
		return nil
	}
	name := f.hash + "." + encoding
	entry, found := s.variants.made.Load(name)
	if !found {
		entry, _ = s.variants.made.LoadOrStore(name, &variant{name: name, path: filepath.Join(s.variants.dir, name)})
	}
	v, _ := entry.(*variant)
	return v
}

// prepare makes the form, once. v.ok is false afterwards for content that gains nothing, and
// when the disk is full.
func (vs *variants) prepare(v *variant, source, encoding string, plain int64) {
	v.once.Do(func() {
		vs.make(v, source, encoding, plain)
		v.known.Store(true)
	})
}

// make finds or writes the form. A form that is not smaller is an empty file, so that
// the next process does not try again.
func (vs *variants) make(v *variant, source, encoding string, plain int64) {
	info, err := os.Stat(v.path) //nolint:gosec // of a file of the list, not a name of a request
	if err != nil {
		vs.busy.Lock()
		defer vs.busy.Unlock()
		if compressFile(source, v.path, encoding, plain) != nil {
			return // the plain file is an answer too
		}
		if info, err = os.Stat(v.path); err != nil { //nolint:gosec // as above
			return
		}
	}
	v.size, v.ok = info.Size(), info.Size() > 0
}

// compressFile writes the form of the file source to path.
func compressFile(source, path, encoding string, plain int64) error {
	data, err := os.ReadFile(source)
	if err != nil {
		return fmt.Errorf("read asset: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil { //nolint:gosec // as above
		return fmt.Errorf("create directory for compressed assets: %w", err)
	}
	small, err := compress(data, encoding)
	if err != nil {
		return fmt.Errorf("compress asset: %w", err)
	}
	if int64(len(small)) >= plain {
		small = nil
	}
	return atomicfile.WriteFile(path, small, 0o600)
}

func compress(data []byte, encoding string) ([]byte, error) {
	var out bytes.Buffer
	var w io.WriteCloser
	switch encoding {
	case "br":
		w = brotli.NewWriterOptions(&out, brotli.WriterOptions{Quality: brotliLevel})
	case "zstd":
		enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithWindowSize(zstdWindow))
		if err != nil {
			return nil, err
		}
		defer enc.Close()
		return enc.EncodeAll(data, nil), nil
	default:
		enc, err := gzip.NewWriterLevel(&out, gzipLevel)
		if err != nil {
			return nil, err
		}
		w = enc
	}
	_, err := w.Write(data)
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
