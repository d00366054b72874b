//go:build simulate

package simulate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/svc"
)

// config is what the process opens the data with. Logs are compacted after 4 transactions instead of
// 64, so that a short run has merges.
func (w *world) config(p *process, b objstore.Bucket) dataplane.Config {
	c := dataplane.Config{
		Ref: w.ref(p.version), Dir: p.dir, Bucket: b, Branches: p.branches, Lease: leaseTTL, Sync: w.sync, Window: time.Second,
		Owner: svc.Owner{Node: p.machine.name, Session: p.machine.lease.session()}, Logger: w.logger,
		CompactAfter: 4, CompactFiles: 3, SyncFile: func(f *os.File) error { return w.synced(p, f.Name()) },
	}
	if p.version.parent != nil {
		c.Parent = p.version.parent.id
	}
	return c
}

// newDir is a directory for the files of a process.
func (w *world) newDir() string {
	w.started++
	return filepath.Join(w.dir, fmt.Sprintf("d%d", w.started))
}

// start opens the data of a version in a new process.
func (w *world) start(v *version, m *machine) {
	p := w.newProcess(v, m, "")
	p.name = fmt.Sprintf("p%d/%s@%s", p.number, v.id, m.name)
	free := v.occupy()
	v.processes = append(v.processes, p)
	if v.dirs[m.name] == "" {
		v.dirs[m.name] = w.newDir()
	}
	p.dir = v.dirs[m.name]
	c := w.config(p, bucket{w, p})
	c.Revoked = func(error) {
		w.trace.add("revoked %s", p.name)
		w.stats["revoked"]++
		p.stopping = true
	}
	w.trace.add("start %s", p.name)
	w.task(func() {
		err := w.open(p, c)
		free()
		switch {
		case p.dead:
		case err != nil:
			w.notOpened(p, err)
		default:
			w.ready(p)
		}
	})
}

func (w *world) open(p *process, c dataplane.Config) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if p.volumes, err = dataplane.Open(context.Background(), c); err != nil {
		panic(fmt.Sprintf("the configuration of a process is wrong: %v", err))
	}
	opened := map[string]volume.Database{}
	for _, name := range databases {
		db, err := p.volumes.Database(ctx, name)
		if err == nil {
			err = db.Write(ctx, func(c *raw.Conn) error {
				return c.Script("CREATE TABLE IF NOT EXISTS w(id INTEGER PRIMARY KEY, v)")
			})
		}
		if err != nil {
			return err
		}
		opened[name] = db
	}
	p.databases = opened
	return nil
}

// notOpened ends a process that could not open the data. Faults of the object store never make data
// damaged.
func (w *world) notOpened(p *process, err error) {
	w.trace.add("not opened %s: %s", p.name, svc.CodeOf(err))
	w.stats["not opened"]++
	if svc.CodeOf(err) == svc.CodeDataBroken {
		w.violate("damaged", "%s cannot be opened: %v", p.name, err)
	}
	p.stopping = true
}

// ready makes a process the one that serves.
func (w *world) ready(p *process) {
	p.readyAt, p.readyOn = w.tick(), time.Now().UnixNano()
	for _, q := range p.version.processes {
		if q.machine != p.machine && q.number < p.number {
			w.loosen(p.version) // what the other machine acknowledged and did not ship
		}
	}
	p.version.newest = p
	w.stats["opened"]++
	w.trace.add("ready %s", p.name)
}
