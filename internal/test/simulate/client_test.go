//go:build simulate

package simulate

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
)

// patience is how long a client waits for an answer.
const patience = 20 * time.Second

// client writes to one database and then, if both, to the other one: a fork that has the second write
// has the first one too.
func (w *world) client(p *process, firstDatabase int, both bool) {
	size := []int{10, 10, 10, 3000, 20000}[w.rng.IntN(5)]
	p.writing++
	w.task(func() {
		defer func() { p.writing-- }()
		var before *write
		for i := range 2 {
			if i == 1 && !both {
				return
			}
			wr := w.newWrite(p, databases[(firstDatabase+i)%2], before)
			if !w.try(wr, size) || p.version.state == isGone {
				return
			}
			before = wr
		}
	})
}

func (w *world) newWrite(p *process, database string, after *write) *write {
	w.lastID++
	wr := &write{id: w.lastID, version: p.version, process: p, database: database, began: w.tick(), after: after}
	w.writes[wr.id] = wr
	return wr
}

// try sends a write, and reports whether it was acknowledged.
func (w *world) try(wr *write, size int) bool {
	p := wr.process
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	committed := 0
	err := p.databases[wr.database].Write(ctx, func(c *raw.Conn) error {
		err := c.Script(fmt.Sprintf("INSERT INTO w VALUES (%d, printf('%%.*c', %d, 'x'))", wr.id, size))
		committed = w.tick()
		return err
	})
	if err != nil || p.dead {
		w.stats["writes without an acknowledgment"]++
		return false
	}
	wr.ended = w.tick()
	wr.shipped = w.sync
	w.stats["acknowledged writes"]++
	w.trace.add("acknowledged %d by %s", wr.id, p.name)
	w.checkAcknowledged(wr, committed)
	return true
}

// synced notes a sync of a WAL to disk, which is where async acknowledges.
func (w *world) synced(p *process, path string) error {
	p.synced[strings.TrimSuffix(filepath.Base(path), ".sqlite-wal")] = w.tick()
	return nil
}

// appended notes a transaction that the object store has accepted.
func (w *world) appended(r *request) {
	if r.err != nil {
		return
	}
	for _, name := range databases {
		if v := r.process.version; v != nil && strings.HasPrefix(r.key, "shop/"+v.id+"/db/"+name+"/ltx/0000/") {
			r.process.synced[name] = w.tick()
		}
	}
}

// reader reads one database and compares it with the model.
func (w *world) reader(p *process, name string) {
	w.task(func() {
		began, beganOn := w.tick(), time.Now().UnixNano()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		got, err := contents(ctx, p.databases[name])
		if err != nil || p.dead {
			return
		}
		if w.takenOver(p, beganOn) {
			w.stats["reads answered by an old owner"]++
			return
		}
		w.stats["reads"]++
		w.check(reading{p.version, name, got, began, w.tick(), "read of " + p.name, p})
	})
}

// takenOver reports whether another process has begun to serve, or to start, so that p may not know the
// newest writes.
func (w *world) takenOver(p *process, readBegan int64) (later bool) {
	for _, q := range p.version.processes {
		if q.number <= p.number {
			continue
		}
		later = true
		if w.sync && q.readyAt > 0 && readBegan > q.readyOn+int64(leaseTTL) {
			w.violate("stale", "%s answered a read a lease after %s had taken over", p.name, q.name)
		}
	}
	return later
}

func contents(ctx context.Context, db volume.Database) (list []int64, err error) {
	err = db.Read(ctx, func(c *raw.Conn) error {
		list = list[:0]
		return c.Query("SELECT id FROM w ORDER BY id", nil, func(st *raw.Stmt) error {
			list = append(list, st.Int64(0))
			return nil
		})
	})
	return list, err
}
