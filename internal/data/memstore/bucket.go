package memstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/data/objstore"
)

// Bucket is an objstore.Bucket in memory. The zero value is empty.
type Bucket struct {
	mu      sync.Mutex
	objects map[string]object
}

type object struct {
	data []byte
	info objstore.Info
}

var _ objstore.Bucket = (*Bucket)(nil)

// Put implements objstore.Bucket.
func (m *Bucket) Put(_ context.Context, key string, body io.Reader, size int64, cond objstore.Condition) (objstore.Info, error) {
	data, err := io.ReadAll(body)
	if err != nil {
		return objstore.Info{}, fmt.Errorf("read body of %s: %w", key, err)
	}
	if size >= 0 && int64(len(data)) != size {
		return objstore.Info{}, fmt.Errorf("put %s: body has %d bytes, want %d", key, len(data), size)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	old, exists := m.objects[key]
	if cond.IfAbsent && exists || cond.IfMatch != "" && (!exists || old.info.ETag != cond.IfMatch) {
		return objstore.Info{}, fmt.Errorf("put %s: %w", key, objstore.ErrPrecondition)
	}
	if m.objects == nil {
		m.objects = map[string]object{}
	}
	sum := sha256.Sum256(data)
	info := objstore.Info{Key: key, Size: int64(len(data)), ETag: hex.EncodeToString(sum[:16]), Modified: time.Now()}
	m.objects[key] = object{data, info}
	return info, nil
}

// Get implements objstore.Bucket.
func (m *Bucket) Get(_ context.Context, key string, off, n int64) (io.ReadCloser, objstore.Info, error) {
	o, err := m.find(key)
	if err != nil {
		return nil, objstore.Info{}, err
	}
	data := o.data[min(off, o.info.Size):]
	if n >= 0 {
		data = data[:min(n, int64(len(data)))]
	}
	return io.NopCloser(bytes.NewReader(data)), o.info, nil
}

// Stat implements objstore.Bucket.
func (m *Bucket) Stat(_ context.Context, key string) (objstore.Info, error) {
	o, err := m.find(key)
	return o.info, err
}

func (m *Bucket) find(key string) (object, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o, ok := m.objects[key]
	if !ok {
		return object{}, fmt.Errorf("%s: %w", key, objstore.ErrNotExist)
	}
	return o, nil
}

// List implements objstore.Bucket.
func (m *Bucket) List(_ context.Context, prefix, after string, limit int) ([]objstore.Info, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var page []objstore.Info
	for _, key := range slices.Sorted(maps.Keys(m.objects)) {
		if len(page) == limit {
			break
		}
		if strings.HasPrefix(key, prefix) && key > after {
			page = append(page, m.objects[key].info)
		}
	}
	return page, nil
}

// Delete implements objstore.Bucket.
func (m *Bucket) Delete(_ context.Context, keys ...string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range keys {
		delete(m.objects, key)
	}
	return nil
}
