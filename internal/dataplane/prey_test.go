package dataplane_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/binding"
	"github.com/svcctl/svcctl/internal/branch"
	"github.com/svcctl/svcctl/internal/dataplane"
	"github.com/svcctl/svcctl/internal/s3"
	"github.com/svcctl/svcctl/internal/sqlite/raw"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/torturetest"
)

const preyEnv = "SVC_DATAPLANE_PREY"

// prey is one life of a version's data: a host process that opens it, writes,
// reads and cuts, and says what it was told, until it is killed.
type prey struct {
	Store   struct{ Endpoint, Access, Secret string }
	Prefix  string
	Dir     string
	Host    string
	Life    int
	Seed    uint64
	Sync    bool
	Window  time.Duration
	Lease   time.Duration // also: it holds the lease of its host
	Writers int           // for each store
	Most    int           // writes of one writer, 0 for no end
	Readers int
	Stores  int
	Churn   bool // changes of every kind, not only the counters
	Cuts    bool

	v      *dataplane.Volumes
	stores []binding.Store
	calm   sync.RWMutex // writers share it; who wants the stores to stand still owns it
	told   sync.Mutex
}

// say tells the test something; a line is whole or not there.
func (p *prey) say(format string, args ...any) {
	p.told.Lock()
	defer p.told.Unlock()
	fmt.Printf(format+"\n", args...)
}

func storeOf(i int) string { return "s" + strconv.Itoa(i) }

// livePrey is the process.
func livePrey(text string) int {
	if err := live(context.Background(), text); err != nil {
		fmt.Println("FAIL", err)
		return 1
	}
	return 0
}

func live(ctx context.Context, text string) error {
	p := &prey{}
	if err := json.Unmarshal([]byte(text), p); err != nil { //nolint:musttag // both ends are this test
		return err
	}
	c, err := p.config(ctx)
	if err != nil {
		return err
	}
	if p.v, err = dataplane.Open(ctx, c); err != nil {
		return err
	}
	for i := range p.Stores {
		if err := p.open(ctx, i); err != nil {
			if expected(err) {
				p.say("SHUT %s", svc.CodeOf(err))
				return nil
			}
			return fmt.Errorf("opening %s: %w", storeOf(i), err)
		}
	}
	p.say("READY %d", time.Now().UnixNano())
	fail := make(chan error)
	p.work(ctx, func(fn func(*rand.Rand) error, n uint64) {
		r := rand.New(rand.NewPCG(p.Seed, n))
		go func() {
			for {
				if err := fn(r); err != nil && !expected(err) {
					fail <- err
				} else if err != nil {
					p.say("REFUSED %s", svc.CodeOf(err))
					time.Sleep(20 * time.Millisecond)
				}
			}
		}()
	})
	return <-fail
}

func (p *prey) config(ctx context.Context) (dataplane.Config, error) {
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	client, err := s3.New(s3.Config{
		Endpoint: p.Store.Endpoint, AccessKey: p.Store.Access, SecretKey: svc.Secret(p.Store.Secret), Patience: 2 * time.Second,
	})
	if err != nil {
		return dataplane.Config{}, err
	}
	bucket := client.Bucket(torturetest.Bucket, p.Prefix)
	branches, err := branch.New(branch.Config{Data: bucket, LeaseTTL: p.Lease, Logger: logger})
	if err != nil {
		return dataplane.Config{}, err
	}
	owner := branch.Owner{Host: p.Host, Session: fmt.Sprint(p.Host, p.Life)}
	if p.Lease > 0 {
		if _, err := branches.Hold(ctx, owner); err != nil {
			return dataplane.Config{}, err
		}
	}
	return dataplane.Config{
		Ref: svc.Ref{Project: "p", Version: "v1"}, Dir: p.Dir, Bucket: bucket, Branches: branches, Owner: owner,
		Lease: p.Lease, Sync: p.Sync, Window: p.Window, Logger: logger,
		Lost: func(err error) {
			p.say("LOST %s %d", svc.CodeOf(err), time.Now().UnixNano())
			os.Exit(0) // as a host does
		},
	}, nil
}

// expected tells what a client may be told from what is wrong.
func expected(err error) bool {
	switch svc.CodeOf(err) {
	case "data_behind", "not_durable", "data_fenced", "data_unconfirmed":
		return true
	}
	var e *raw.Error // pages that did not come
	return errors.As(err, &e) && e.Code.Primary() == raw.IOErr || errors.Is(err, context.DeadlineExceeded)
}

const preySchema = `
	CREATE TABLE IF NOT EXISTS log(w INTEGER, n INTEGER, PRIMARY KEY(w, n));
	CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, k, v);
	CREATE INDEX IF NOT EXISTS ti ON t(k);`

// open opens a store and says what it has.
func (p *prey) open(ctx context.Context, i int) error {
	s, err := p.v.Store(ctx, storeOf(i))
	if err != nil {
		return err
	}
	p.stores = append(p.stores, s)
	if err := s.Write(ctx, func(c *raw.Conn) error { return c.Script(preySchema) }); err != nil {
		return err
	}
	return s.Read(ctx, func(c *raw.Conn) error {
		return c.Query(`SELECT w, max(n), count(*) FROM log GROUP BY w`, nil, func(s *raw.Stmt) error {
			p.say("HAVE %d %d %d %d", i, s.Int64(0), s.Int64(1), s.Int64(2))
			return nil
		})
	})
}

// work gives run each thing that is done again and again.
func (p *prey) work(ctx context.Context, run func(fn func(*rand.Rand) error, n uint64)) {
	n := uint64(0)
	for i, s := range p.stores {
		for k := range p.Writers {
			w, next := p.Life*100+k, 1
			run(func(r *rand.Rand) error { return p.write(ctx, r, i, s, w, &next) }, n)
			n++
		}
		for range p.Readers {
			run(func(r *rand.Rand) error { return p.read(ctx, r, i, s) }, n)
			n++
		}
	}
	if p.Cuts {
		run(func(r *rand.Rand) error { return p.cut(ctx, r) }, n)
	}
}

// write is one change; one with a number is told when it is acknowledged.
func (p *prey) write(ctx context.Context, r *rand.Rand, i int, s binding.Store, w int, next *int) error {
	if p.Most > 0 && *next > p.Most {
		select {} // only readers are left
	}
	p.calm.RLock()
	defer p.calm.RUnlock()
	text, undo, numbered := "", false, true
	if p.Churn {
		text, undo, numbered = churn(r)
	}
	began := time.Now()
	err := s.Write(ctx, func(c *raw.Conn) error {
		if !numbered {
			return c.Script(text)
		}
		return c.InTx("BEGIN IMMEDIATE", func() error {
			if err := c.Script(text); err != nil {
				return err
			}
			if undo {
				return errUndo
			}
			return c.Exec(`INSERT OR IGNORE INTO log VALUES (?, ?)`, w, *next)
		})
	})
	switch {
	case errors.Is(err, errUndo):
		return nil
	case err == nil && numbered:
		p.say("ACK %d %d %d %d %d", i, w, *next, began.UnixNano(), time.Now().UnixNano())
		*next++
	}
	return err
}

var errUndo = errors.New("undo")

// read looks how far a writer is.
func (p *prey) read(ctx context.Context, r *rand.Rand, i int, s binding.Store) error {
	began := time.Now()
	var w, n int64
	err := s.Read(ctx, func(c *raw.Conn) error {
		return c.Query(`SELECT w, max(n) FROM log GROUP BY w ORDER BY w DESC LIMIT 1 OFFSET ?`, []any{r.IntN(3)}, func(s *raw.Stmt) error {
			w, n = s.Int64(0), s.Int64(1)
			return nil
		})
	})
	if err == nil {
		p.say("SAW %d %d %d %d", i, w, n, began.UnixNano())
		time.Sleep(time.Duration(r.IntN(5)) * time.Millisecond)
	}
	return err
}

// taken is a cut, and what the stores held: a hash of it when nothing was written
// meanwhile.
type taken struct {
	Cuts   map[string]branch.Cut
	Hashes map[string]string
}

// cut takes a cut, of stores that stand still or are being written.
func (p *prey) cut(ctx context.Context, r *rand.Rand) error {
	time.Sleep(time.Duration(10+r.IntN(80)) * time.Millisecond)
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	t := taken{Hashes: map[string]string{}}
	if r.IntN(3) > 0 {
		p.calm.Lock()
		defer p.calm.Unlock()
		for i, s := range p.stores {
			err := s.Read(ctx, func(c *raw.Conn) (err error) {
				t.Hashes[storeOf(i)], err = torturetest.Content(c)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	var err error
	if t.Cuts, _, err = p.v.Cut(ctx); err != nil {
		return err
	}
	text, err := json.Marshal(t) //nolint:musttag // both ends are this test
	p.say("CUT %s", text)
	return err
}

// churn invents a change. Those that cannot be in a transaction have no number.
func churn(r *rand.Rand) (text string, undo, numbered bool) {
	x := fmt.Sprintf("x%d", r.IntN(4))
	few := `(SELECT id FROM t WHERE id >= abs(random()) % (SELECT max(id) FROM t) LIMIT ` + strconv.Itoa(1+r.IntN(30)) + `)`
	many := `WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < ` + strconv.Itoa(20+r.IntN(400)) + `) INSERT INTO t(k, v) SELECT 'big', randomblob(3000) FROM n;`
	switch p := r.IntN(100); {
	case p < 55:
		return fmt.Sprintf(`INSERT INTO t(k, v) VALUES ('k%d', randomblob(%d));`, r.Uint32(), r.IntN(9000)), r.IntN(10) == 0, true
	case p < 67:
		return fmt.Sprintf(`UPDATE t SET v = randomblob(%d) WHERE id IN %s;`, r.IntN(6000), few), r.IntN(10) == 0, true
	case p < 77:
		return `DELETE FROM t WHERE id IN ` + few + `;`, r.IntN(10) == 0, true
	case p < 82:
		return `CREATE TABLE IF NOT EXISTS ` + x + `(a PRIMARY KEY, b); INSERT OR REPLACE INTO ` + x + ` SELECT k, v FROM t LIMIT 100;`, r.IntN(4) == 0, true
	case p < 85:
		return `DROP TABLE IF EXISTS ` + x + `;`, r.IntN(4) == 0, true
	case p < 87: // more than the page cache holds, and undone
		return many + `UPDATE t SET v = randomblob(2500) WHERE k = 'big';`, true, true
	case p < 90:
		return many, false, true
	case p < 91: // grows the file by pages that are never written
		return `CREATE TABLE g(v); WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 90) INSERT INTO g SELECT zeroblob(3000) FROM n; DROP TABLE g;`, false, true
	case p < 97:
		return `DELETE FROM t WHERE id < (SELECT max(id) - 500 FROM t);`, false, true
	case p < 98:
		return `VACUUM;`, false, false
	default:
		return `PRAGMA wal_checkpoint(` + []string{"PASSIVE", "FULL", "RESTART", "TRUNCATE"}[r.IntN(4)] + `);`, false, false
	}
}
