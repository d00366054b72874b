package dataplane_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/s3"
	"github.com/svcctl/svcctl/internal/data/s3/s3test"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/internal/svc"
)

const pastRoleName = "past"

// pastRole is one life of a version with history: actors write rows, keys and bodies of two databases in turn, and
// say when.
type pastRole struct {
	Store           struct{ Endpoint, Access, Secret string }
	Dir, Node       string
	Version, Parent string
	Life, Actors    int
	Behind          time.Duration // the time of the machine
	For             time.Duration
	Archive         bool
}

// pastHost is the process of one.
type pastHost struct {
	pastRole
	v         *dataplane.Volumes
	main, sys volume.Database
	output    sync.Mutex
}

func (p *pastHost) say(format string, args ...any) {
	p.output.Lock()
	defer p.output.Unlock()
	fmt.Printf(format+"\n", args...)
}

// config is that of the version on the store.
func (p *pastRole) config(logger *slog.Logger) (dataplane.Config, error) {
	client, err := s3.New(s3.Config{
		Endpoint: p.Store.Endpoint, AccessKey: p.Store.Access, SecretKey: svc.Secret(p.Store.Secret), AnswerTimeout: 5 * time.Second,
	})
	if err != nil {
		return dataplane.Config{}, err
	}
	bucket := client.Bucket(s3test.StoreBucket, "past/")
	branches, err := branch.New(branch.Config{Data: bucket, LeaseTTL: 200 * time.Millisecond, Grace: 2 * time.Second, Logger: logger})
	return dataplane.Config{
		Ref: svc.Ref{Project: "p", Version: p.Version}, Parent: p.Parent, Dir: p.Dir, Bucket: bucket, Branches: branches,
		Owner: svc.Owner{Node: p.Node, Session: fmt.Sprint(p.Node, p.Life)}, Window: 30 * time.Millisecond, History: true, Logger: logger,
		CompactAfter: 16, CompactFiles: 4, Now: func() time.Time { return time.Now().Add(-p.Behind) },
	}, err
}

// change is what one write of an actor does: rows of t in the first database, keys of kv and bodies in the second.
type change struct {
	sys  bool
	sql  string
	args []any
	body []byte // of a new body
	drop bool   // of a body
}

func changeOf(actor string, i int) change {
	val := fmt.Sprintf("%s-%d-%s", actor, i, strings.Repeat("x", 20+i%200))
	switch i % 10 {
	case 0, 1, 2, 3:
		return change{sql: `INSERT OR REPLACE INTO t(actor, k, v) VALUES (?1, ?2, ?3)`, args: []any{actor, (i * 7) % 40, val}}
	case 4:
		return change{sql: `DELETE FROM t WHERE actor = ?1 AND k = ?2`, args: []any{actor, (i * 3) % 40}}
	case 5, 6:
		return change{sys: true, sql: `INSERT OR REPLACE INTO kv(actor, k, v) VALUES (?1, ?2, ?3)`, args: []any{actor, i % 15, val}}
	case 7:
		return change{sys: true, sql: `DELETE FROM kv WHERE actor = ?1 AND k = ?2`, args: []any{actor, (i * 3) % 15}}
	case 8:
		return change{sys: true, args: []any{actor, i / 10 % 4}, body: bytes.Repeat([]byte(val), 70_000/len(val)+1)}
	}
	return change{sys: true, args: []any{actor, i / 10 % 3}, drop: true}
}

// runPastRole is the process. Its argument is a pastRole as JSON.
func runPastRole(ctx context.Context, args []string) error {
	p := &pastHost{}
	if err := json.Unmarshal([]byte(args[0]), &p.pastRole); err != nil { //nolint:musttag // both ends are this test
		return err
	}
	c, err := p.config(slog.New(slog.DiscardHandler))
	if err == nil {
		p.v, err = dataplane.Open(ctx, c)
	}
	if err == nil {
		err = p.open(ctx)
	}
	if err != nil {
		return err
	}
	p.say("READY")
	errs := make(chan error, p.Actors)
	for a := range p.Actors {
		go func() { errs <- p.act(ctx, fmt.Sprintf("%s.%d.%d", p.Version, p.Life, a)) }()
	}
	for range p.Actors {
		if err := <-errs; err != nil {
			return err
		}
	}
	if p.Archive {
		err = p.v.Archive(ctx)
	} else {
		err = p.v.Close()
	}
	if err == nil {
		p.say("DONE")
	}
	return err
}

const pastCounters = `CREATE TABLE IF NOT EXISTS c(actor TEXT PRIMARY KEY, n INTEGER) WITHOUT ROWID;`

func (p *pastHost) open(ctx context.Context) (err error) {
	if p.main, err = p.v.Database(ctx, "database-main"); err != nil {
		return err
	}
	if p.sys, err = p.v.Database(ctx, "sys"); err != nil {
		return err
	}
	err = p.main.Write(ctx, func(c *raw.Conn) error {
		return c.Script(pastCounters + `CREATE TABLE IF NOT EXISTS t(actor TEXT, k INTEGER, v TEXT, PRIMARY KEY(actor, k)); CREATE INDEX IF NOT EXISTS tv ON t(v);`)
	})
	if err != nil {
		return err
	}
	return p.sys.Write(ctx, func(c *raw.Conn) error {
		return c.Script(pastCounters + `CREATE TABLE IF NOT EXISTS kv(actor TEXT, k INTEGER, v TEXT, PRIMARY KEY(actor, k)) WITHOUT ROWID;
			CREATE TABLE IF NOT EXISTS r2(actor TEXT, k INTEGER, blob TEXT, PRIMARY KEY(actor, k));`)
	})
}

// act writes until the life ends.
func (p *pastHost) act(ctx context.Context, actor string) error {
	for i, end := 1, time.Now().Add(p.For); time.Now().Before(end); i++ {
		ch := changeOf(actor, i)
		p.say("B %s %d %d", actor, i, time.Now().UnixMicro())
		if err := p.write(ctx, actor, i, ch); err != nil {
			return fmt.Errorf("%s %d: %w", actor, i, err)
		}
		p.say("A %s %d %d", actor, i, time.Now().UnixMicro())
		if err := backoff.Sleep(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

func (p *pastHost) write(ctx context.Context, actor string, i int, ch change) error {
	db, key := p.main, ""
	if ch.sys {
		db = p.sys
	}
	if ch.body != nil {
		var err error
		if key, err = p.v.Blobs().Put(ctx, io.LimitReader(bytes.NewReader(ch.body), int64(len(ch.body))), int64(len(ch.body))); err != nil {
			return err
		}
	}
	return db.Write(ctx, func(c *raw.Conn) error {
		return c.InTx("BEGIN IMMEDIATE", func() error {
			if err := p.apply(c, ch, key); err != nil {
				return err
			}
			return c.Exec(`INSERT OR REPLACE INTO c(actor, n) VALUES (?1, ?2)`, actor, i)
		})
	})
}

func (p *pastHost) apply(c *raw.Conn, ch change, key string) error {
	if ch.body == nil && !ch.drop {
		return c.Exec(ch.sql, ch.args...)
	}
	old := ""
	if err := c.Query(`SELECT blob FROM r2 WHERE actor = ?1 AND k = ?2`, ch.args, func(s *raw.Stmt) error { old = s.Text(0); return nil }); err != nil {
		return err
	}
	if old != "" {
		if err := p.v.Blobs().Unreference(c, old); err != nil {
			return err
		}
		if err := c.Exec(`DELETE FROM r2 WHERE actor = ?1 AND k = ?2`, ch.args...); err != nil {
			return err
		}
	}
	if key == "" {
		return nil
	}
	if err := p.v.Blobs().Reference(c, key); err != nil {
		return err
	}
	return c.Exec(`INSERT INTO r2(actor, k, blob) VALUES (?1, ?2, ?3)`, append(ch.args, key)...)
}
