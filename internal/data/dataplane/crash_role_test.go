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

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/s3"
	"github.com/svcctl/svcctl/internal/data/s3/s3test"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/crashtest"
)

// hostRole is one life of a version's data: a host process that opens it, writes, reads and cuts, and
// reports acknowledgments, until it is killed.
type hostRole struct {
	Store   struct{ Endpoint, Access, Secret string }
	Prefix  string
	Dir     string
	Node    string
	Life    int
	Seed    uint64
	Sync    bool
	Window  time.Duration
	Lease   time.Duration // also: it holds the lease of its node
	Writers int           // for each database
	Most    int           // writes of one writer, 0 for no limit
	Readers int
	Stores  int
	Churn   bool // changes of every kind, not only the counters
	Cuts    bool

	v      *dataplane.Volumes
	stores []volume.Database
	calm   sync.RWMutex // writers share it; a cut of unchanging databases owns it
	output sync.Mutex
}

// say prints a complete line for the test.
func (p *hostRole) say(format string, args ...any) {
	p.output.Lock()
	defer p.output.Unlock()
	fmt.Printf(format+"\n", args...)
}

func storeOf(i int) string { return "s" + strconv.Itoa(i) }

// runHostRole is the process. Its argument is a hostRole as JSON.
func runHostRole(ctx context.Context, args []string) error {
	p := &hostRole{}
	if err := json.Unmarshal([]byte(args[0]), p); err != nil { //nolint:musttag // both ends are this test
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

func (p *hostRole) config(ctx context.Context) (dataplane.Config, error) {
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	client, err := s3.New(s3.Config{
		Endpoint: p.Store.Endpoint, AccessKey: p.Store.Access, SecretKey: svc.Secret(p.Store.Secret), AnswerTimeout: 2 * time.Second,
	})
	if err != nil {
		return dataplane.Config{}, err
	}
	bucket := client.Bucket(s3test.StoreBucket, p.Prefix)
	branches, err := branch.New(branch.Config{Data: bucket, LeaseTTL: p.Lease, Logger: logger})
	if err != nil {
		return dataplane.Config{}, err
	}
	owner := svc.Owner{Node: p.Node, Session: fmt.Sprint(p.Node, p.Life)}
	if p.Lease > 0 {
		if _, err := branches.Hold(ctx, owner); err != nil {
			return dataplane.Config{}, err
		}
	}
	return dataplane.Config{
		Ref: svc.Ref{Project: "p", Version: "v1"}, Dir: p.Dir, Bucket: bucket, Branches: branches, Owner: owner,
		Lease: p.Lease, Sync: p.Sync, Window: p.Window, Logger: logger,
		Revoked: func(err error) {
			p.say("LOST %s %d", svc.CodeOf(err), time.Now().UnixNano())
			os.Exit(0) // like a host
		},
	}, nil
}

// expected distinguishes errors that clients may get from failures.
func expected(err error) bool {
	switch svc.CodeOf(err) {
	case "data_behind", "not_durable", "data_fenced", "data_unconfirmed":
		return true
	}
	var e *raw.Error // missing pages
	return errors.As(err, &e) && e.Code.Primary() == raw.IOErr || errors.Is(err, context.DeadlineExceeded)
}

const crashSchema = crashtest.Schema + `CREATE TABLE IF NOT EXISTS log(w INTEGER, n INTEGER, PRIMARY KEY(w, n));`

// open opens a database and reports its content.
func (p *hostRole) open(ctx context.Context, i int) error {
	db, err := p.v.Database(ctx, storeOf(i))
	if err != nil {
		return err
	}
	p.stores = append(p.stores, db)
	if err := db.Write(ctx, func(c *raw.Conn) error { return c.Script(crashSchema) }); err != nil {
		return err
	}
	return db.Read(ctx, func(c *raw.Conn) error {
		return c.Query(`SELECT w, max(n), count(*) FROM log GROUP BY w`, nil, func(s *raw.Stmt) error {
			p.say("HAVE %d %d %d %d", i, s.Int64(0), s.Int64(1), s.Int64(2))
			return nil
		})
	})
}

// work calls run with each repeated action.
func (p *hostRole) work(ctx context.Context, run func(fn func(*rand.Rand) error, n uint64)) {
	n := uint64(0)
	for i, db := range p.stores {
		for k := range p.Writers {
			w, next := p.Life*100+k, 1
			run(func(r *rand.Rand) error { return p.write(ctx, r, i, db, w, &next) }, n)
			n++
		}
		for range p.Readers {
			run(func(r *rand.Rand) error { return p.read(ctx, r, i, db) }, n)
			n++
		}
	}
	if p.Cuts {
		run(func(r *rand.Rand) error { return p.cut(ctx, r) }, n)
	}
}

// write is one change; one with a number is reported when it is acknowledged.
func (p *hostRole) write(ctx context.Context, r *rand.Rand, i int, db volume.Database, w int, next *int) error {
	if p.Most > 0 && *next > p.Most {
		select {} // only readers are left
	}
	p.calm.RLock()
	defer p.calm.RUnlock()
	text, undo, numbered := "", false, true
	if p.Churn {
		text, undo, numbered = crashtest.Statement(r)
	}
	began := time.Now()
	err := db.Write(ctx, func(c *raw.Conn) error {
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

// read reads the count of a writer.
func (p *hostRole) read(ctx context.Context, r *rand.Rand, i int, db volume.Database) error {
	began := time.Now()
	var w, n int64
	err := db.Read(ctx, func(c *raw.Conn) error {
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

// taken is a cut and a hash of each database, when nothing was written meanwhile.
type taken struct {
	Cuts   map[string]branch.Cut
	Hashes map[string]string
}

// cut makes a cut, of unchanging databases or during writes.
func (p *hostRole) cut(ctx context.Context, r *rand.Rand) error {
	time.Sleep(time.Duration(10+r.IntN(80)) * time.Millisecond)
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	t := taken{Hashes: map[string]string{}}
	if r.IntN(3) > 0 {
		p.calm.Lock()
		defer p.calm.Unlock()
		for i, db := range p.stores {
			err := db.Read(ctx, func(c *raw.Conn) (err error) {
				t.Hashes[storeOf(i)], err = crashtest.Content(c)
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
