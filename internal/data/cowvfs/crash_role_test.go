package cowvfs_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/superfly/ltx"

	"github.com/svcctl/svcctl/internal/data/cowvfs"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/test/crashtest"
)

// base is made once.
var base struct {
	path string
	once sync.Once
	err  error
}

// copyBase makes a database of some MB with free pages, indexes and large rows throughout.
func copyBase(t testing.TB, path string) {
	t.Helper()
	base.once.Do(func() { base.err = makeBase(base.path) })
	b, err := os.ReadFile(base.path)
	if err = errors.Join(base.err, err); err == nil {
		err = os.WriteFile(path, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func makeBase(path string) error {
	c, err := raw.Open(path, raw.Options{})
	if err == nil {
		err = c.Script(schema + `
			WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 2000) INSERT INTO t(k, v) SELECT 'base'||i, CAST(printf('%d%.*c', i, 1000+i, 'x') AS BLOB) FROM n;
			DELETE FROM t WHERE id % 7 = 3;
			PRAGMA journal_mode = WAL;`)
		err = errors.Join(err, c.Close())
	}
	return err
}

const schema = crashtest.Schema + `CREATE TABLE IF NOT EXISTS log(n INTEGER PRIMARY KEY);`

// crashRole is the role of the processes that TestCrash kills.
const crashRole = "writer"

// runCrashRole is one life of a database: writers, readers, a shipper, until the process is
// killed. Its arguments are the file, the folder of segments, the image of a lazy file or "",
// and a seed.
func runCrashRole(ctx context.Context, args []string) error {
	path, store, base := args[0], args[1], args[2]
	seed, _ := strconv.ParseUint(args[3], 10, 64)
	v := &writer{store: store, wake: make(chan struct{}, 1), rand: rand.New(rand.NewPCG(seed, 2))}
	o := cowvfs.Options{Path: path, Capture: &cowvfs.Capture{TXID: newest(store), Notify: v.notify}, Readahead: 4}
	if base != "" {
		o.Capture.TXID = max(o.Capture.TXID, 1)
		src, err := slowSource(base, seed)
		if err != nil {
			return err
		}
		o.Source = src
	}
	var err error
	if v.file, err = cowvfs.Attach(ctx, o); err != nil {
		return err
	}
	return v.live(ctx, seed)
}

func newest(store string) (id ltx.TXID) {
	entries, _ := os.ReadDir(store)
	for _, e := range entries {
		if n, _, err := ltx.ParseFilename(e.Name()); err == nil {
			id = max(id, n)
		}
	}
	return id
}

func slowSource(path string, seed uint64) (*fileSource, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	r, mu := rand.New(rand.NewPCG(seed, 3)), sync.Mutex{}
	most := []int{300, 1000, 4000}[r.IntN(3)]
	return &fileSource{f: f, size: 4096, pages: uint32(info.Size() / 4096), slow: func(context.Context) error {
		mu.Lock()
		n := r.IntN(most)
		mu.Unlock()
		time.Sleep(time.Duration(n) * time.Microsecond)
		return nil
	}}, nil
}

type writer struct {
	file  *cowvfs.File
	store string
	wake  chan struct{}
	gate  sync.RWMutex // writers share it, a cut owns it
	ship  sync.Mutex
	log   sync.Mutex
	n     int
	rand  *rand.Rand
}

func (v *writer) notify() {
	select {
	case v.wake <- struct{}{}:
	default:
	}
}

func (v *writer) live(ctx context.Context, seed uint64) error {
	path := v.file.Path()
	c, err := openWriter(path)
	if err != nil {
		return err
	}
	if err := c.Script(schema); err != nil {
		return err
	}
	if err := c.Query(`SELECT coalesce(max(n), 0) FROM log`, nil, func(s *raw.Stmt) error { v.n = int(s.Int64(0)); return nil }); err != nil {
		return err
	}
	fmt.Println("START", v.n, v.file.Missing())
	fail := make(chan error, 8)
	for w := range uint64(2) {
		conn, err := openWriter(path)
		if err != nil {
			return err
		}
		go func() { fail <- v.write(conn, rand.New(rand.NewPCG(seed, 10+w))) }()
	}
	reader, err := raw.Open(path, raw.Options{VFS: cowvfs.Name, ReadOnly: true, BusyTimeout: time.Second})
	if err != nil {
		return err
	}
	go func() { fail <- v.read(reader) }()
	go func() { fail <- v.shipper() }()
	if !v.file.Hydrated() && v.rand.IntN(3) > 0 {
		wait := time.Duration(v.rand.IntN(300)) * time.Millisecond
		go func() {
			time.Sleep(wait)
			fail <- v.file.Hydrate(ctx, cowvfs.Pace{Pages: 8})
		}()
	}
	quiet := 0
	if !v.file.Hydrated() {
		quiet = v.rand.IntN(700) // a cut reads every page
	}
	for {
		select {
		case err := <-fail:
			if err != nil {
				return err
			}
		case <-time.After(time.Duration(5+v.rand.IntN(60)+quiet) * time.Millisecond):
			quiet = 0
			if err := v.cut(c); err != nil {
				return err
			}
		}
	}
}

// cut stops the writers and prints the transaction up to which everything is shipped.
func (v *writer) cut(c *raw.Conn) error {
	v.gate.Lock()
	defer v.gate.Unlock()
	v.ship.Lock()
	id, err := shipAll(v.file, v.store)
	v.ship.Unlock()
	if err != nil {
		return err
	}
	h, err := crashtest.Content(c)
	if err != nil {
		return fmt.Errorf("hash: %w", err)
	}
	fmt.Println("CUT", uint64(id), h)
	return nil
}

func (v *writer) shipper() error {
	for range v.wake {
		time.Sleep(time.Duration(time.Now().Nanosecond()%4) * time.Millisecond)
		v.ship.Lock()
		_, err := shipAll(v.file, v.store)
		v.ship.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// read keeps snapshots open for a while, so that the WAL cannot always restart.
func (v *writer) read(c *raw.Conn) error {
	for {
		err := c.InTx("BEGIN", func() error {
			for range 3 {
				if err := c.Exec(`SELECT count(*), sum(length(v)) FROM (SELECT v FROM t WHERE id >= abs(random()) % (SELECT max(id) FROM t) LIMIT 50)`); err != nil {
					return err
				}
				time.Sleep(time.Millisecond)
			}
			return nil
		})
		if err != nil && !busy(err) {
			return fmt.Errorf("reading: %w", err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func busy(err error) bool {
	var e *raw.Error
	return errors.As(err, &e) && e.Code.Primary() == raw.Busy
}

func (v *writer) write(c *raw.Conn, r *rand.Rand) error {
	for {
		v.gate.RLock()
		err := v.step(c, r)
		v.gate.RUnlock()
		if err != nil && !busy(err) {
			return fmt.Errorf("writing: %w", err)
		}
		time.Sleep(time.Duration(r.IntN(1500)) * time.Microsecond)
	}
}

// step is one write; one with a number is acknowledged when it is committed.
func (v *writer) step(c *raw.Conn, r *rand.Rand) error {
	sql, undo, numbered := crashtest.Statement(r)
	if !numbered {
		return c.Script(sql)
	}
	v.log.Lock() // numbers are committed in order
	defer v.log.Unlock()
	v.n++
	err := c.InTx("BEGIN IMMEDIATE", func() error {
		if err := c.Script(sql); err != nil {
			return err
		}
		if undo {
			return errUndo
		}
		return c.Exec(`INSERT INTO log(n) VALUES (?)`, v.n)
	})
	if err == nil {
		fmt.Println("ACK", v.n)
		return nil
	}
	v.n--
	if errors.Is(err, errUndo) {
		return nil
	}
	return err
}

var errUndo = errors.New("undo")
