package s3server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/versity/versitygw/backend"
	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
)

// setup is the first line that the daemon writes to its child. It crosses a pipe, so
// the keys are never in an argument list.
type setup struct {
	Dir       string `json:"dir"`
	Socket    string `json:"socket"`
	Address   string `json:"address"` // "" for none
	Region    string `json:"region"`
	AccessKey string `json:"access_key"`
	SecretKey string `json:"secret_key"`
	NoSync    bool   `json:"no_sync"`

	Connections int           `json:"connections"` // to Address
	Timeout     time.Duration `json:"timeout"`     // of connections to Address

	listening func(net.Addr) // with the address behind Address; may be nil
}

// Run is the child process. It reads its setup from parent, serves until parent or ctx
// ends, and returns why it stopped.
func Run(ctx context.Context, parent io.Reader) error {
	dec := json.NewDecoder(parent)
	var s setup
	if err := dec.Decode(&s); err != nil {
		return fmt.Errorf("read setup of object store: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, parent) // returns when the daemon ends
		cancel()
	}()
	return serve(ctx, s)
}

func serve(ctx context.Context, s setup) error {
	data := filepath.Join(s.Dir, "data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		return fmt.Errorf("create directory of object store: %w", err)
	}
	for _, dir := range []string{s.Dir, filepath.Dir(s.Dir)} { // both may be new
		if err := fsync(dir); err != nil {
			return fmt.Errorf("create directory of object store: %w", err)
		}
	}
	attributes, sidecar, err := metadata(s.Dir, data)
	if err != nil {
		return err
	}
	inner, err := posix.New(data, attributes, posix.PosixOpts{CopyObjectThreshold: 5 << 30, SideCarDir: sidecar, IOBufferSize: ioBuffer})
	if err != nil {
		return fmt.Errorf("open object store: %w", err)
	}
	var store backend.Backend = inner
	if !s.NoSync {
		store = newDurable(inner, data, sidecar)
	}
	if s.Address != "" { // before the socket: a client that finds it finds the address too
		p, err := openPort(ctx, s.Address, s.Socket, s.Connections, s.Timeout)
		if err != nil {
			return fmt.Errorf("listen for clients of the object store: %w", err)
		}
		go p.serve(ctx)
		if s.listening != nil {
			s.listening(p.ln.Addr())
		}
	}
	return embedgw.RunVersityGW(ctx, store, &embedgw.Config{
		RootUserAccess: s.AccessKey, RootUserSecret: s.SecretKey, Region: s.Region,
		Ports: []string{s.Socket}, SocketPerm: "0600", MaxConnections: 4096, MaxRequests: 2048, MultipartMaxParts: 10000,
		KeepAlive: true, Quiet: true, DisableACLs: true, IAMCacheDisable: true,
	})
}

// metadata keeps object metadata in extended attributes, or beside the data on
// a filesystem that has none.
func metadata(dir, data string) (store meta.MetadataStorer, sidecarDir string, err error) { //nolint:ireturn // the library's interface
	if (meta.XattrMeta{}).Test(data) == nil {
		return meta.XattrMeta{}, "", nil
	}
	sidecarDir = filepath.Join(dir, "meta")
	if err := os.MkdirAll(sidecarDir, 0o700); err != nil {
		return nil, "", fmt.Errorf("open metadata of object store: %w", err)
	}
	side, err := meta.NewSideCar(sidecarDir)
	if err != nil {
		return nil, "", fmt.Errorf("open metadata of object store: %w", err)
	}
	return side, sidecarDir, nil
}

// ioBuffer is the buffer of a range read or a write. The library's default of 1 MiB
// costs more than the rest of a request for a page.
const ioBuffer = 64 << 10
