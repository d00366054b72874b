package s3server

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/svcctl/svcctl/internal/lib/atomicfile"
	"github.com/svcctl/svcctl/internal/svc"
)

// storedKeys is keys.json, readable by its owner only.
type storedKeys struct {
	AccessKey string `json:"access_key"`
	SecretKey string `json:"secret_key"`
}

func loadKeys(path string) (Keys, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return makeKeys(path)
	}
	var k storedKeys
	if err == nil {
		err = json.Unmarshal(data, &k)
	}
	if err != nil || k.AccessKey == "" || k.SecretKey == "" {
		return Keys{}, fmt.Errorf("read the object store's keys in %s: %w (restore the file, or delete it to make new keys)", path, err)
	}
	return Keys{k.AccessKey, svc.Secret(k.SecretKey)}, nil
}

func makeKeys(path string) (Keys, error) {
	k := storedKeys{AccessKey: "svc" + rand.Text()[:17], SecretKey: rand.Text() + rand.Text()[:14]}
	data, err := json.MarshalIndent(k, "", "  ") //nolint:gosec // this file is where the keys are kept
	if err == nil {
		err = atomicfile.WriteFile(path, append(data, '\n'), 0o600)
	}
	if err != nil {
		return Keys{}, fmt.Errorf("write keys of the object store: %w", err)
	}
	return Keys{k.AccessKey, svc.Secret(k.SecretKey)}, nil
}

// tail keeps the last bytes written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

const tailSize = 4096

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	t.buf = t.buf[max(0, len(t.buf)-tailSize):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}
