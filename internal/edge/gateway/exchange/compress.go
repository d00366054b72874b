package exchange

import (
	"bytes"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/svcctl/svcctl/internal/edge/http1"
)

const (
	// maxCompressors is the maximum number of responses that are compressed at the same
	// time, each with up to 2 MB of memory. Further ones are sent as the worker made
	// them.
	maxCompressors = 128
	// brotliLevel and gzipLevel are the levels for responses that are compressed once
	// per request: higher ones cost more time than they save on the network.
	brotliLevel = 2
	gzipLevel   = 5
	// windowBits is the size of the window of brotli and zstd, as a power of two.
	windowBits = 18
)

// Compressor compresses one response. Its output collects in out.
type Compressor struct {
	encoding http1.Encoding
	Out      bytes.Buffer
	w        writeFlusher
}

// writeFlusher is what the three libraries have in common.
type writeFlusher interface {
	io.WriteCloser
	Flush() error
	Reset(w io.Writer)
}

// zstdWriter adapts zstd to writeFlusher.
type zstdWriter struct{ *zstd.Encoder }

func (z zstdWriter) Reset(w io.Writer) { z.Encoder.Reset(w) }

// compressors is a pool of compressors. The zero value is ready to use.
type compressors struct {
	mu   sync.Mutex
	used int
	free [http1.Encodings][]*Compressor
}

// get returns a compressor, nil if maxCompressors are in use.
func (p *compressors) get(e http1.Encoding) *Compressor {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.used == maxCompressors {
		return nil
	}
	p.used++
	if n := len(p.free[e]); n > 0 {
		c := p.free[e][n-1]
		p.free[e] = p.free[e][:n-1]
		return c
	}
	return newCompressor(e)
}

// keptCompressors is the number of unused compressors of one encoding that are kept.
const keptCompressors = 8

// put returns a compressor.
func (p *compressors) put(c *Compressor) {
	c.Out.Reset()
	c.w.Reset(&c.Out)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used--
	if len(p.free[c.encoding]) < keptCompressors {
		p.free[c.encoding] = append(p.free[c.encoding], c)
	}
}

func newCompressor(e http1.Encoding) *Compressor {
	c := &Compressor{encoding: e}
	switch e {
	case http1.Zstandard:
		enc, err := zstd.NewWriter(&c.Out, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<windowBits),
			zstd.WithLowerEncoderMem(true), zstd.WithEncoderLevel(zstd.SpeedDefault))
		if err != nil {
			panic("gateway: zstd: " + err.Error()) // the options are constants
		}
		c.w = zstdWriter{enc}
	case http1.Brotli:
		c.w = brotli.NewWriterOptions(&c.Out, brotli.WriterOptions{Quality: brotliLevel, LGWin: windowBits})
	case http1.Identity, http1.Gzip, http1.Encodings:
		enc, err := gzip.NewWriterLevel(&c.Out, gzipLevel)
		if err != nil {
			panic("gateway: gzip: " + err.Error()) // the level is a constant
		}
		c.w = enc
	}
	return c
}

// Add compresses a piece of the body. flush makes all of it available in out; last ends
// the body.
func (c *Compressor) Add(data []byte, flush, last bool) error {
	if _, err := c.w.Write(data); err != nil {
		return err
	}
	switch {
	case last:
		return c.w.Close()
	case flush:
		return c.w.Flush()
	}
	return nil
}
