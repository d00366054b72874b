//go:build e2e && power && linux

package e2e

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/s3/s3test"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

var (
	powerCuts = flag.Int("power.cuts", 10, "how often TestPowerFailureWithObjects cuts the power, on each filesystem")
	powerFS   = flag.String("power.fs", "ext4,xfs", "filesystems, each with its mkfs")
)

// powerWorker keeps an invariant with each commit: c counts the rows of t and their bytes.
const powerWorker = `import { DurableObject } from "cloudflare:workers";
export class Ledger extends DurableObject {
	constructor(ctx, env) {
		super(ctx, env);
		this.sql = ctx.storage.sql;
		this.sql.exec("CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, v BLOB); CREATE TABLE IF NOT EXISTS c(n, s)");
	}
	add(size) {
		this.sql.exec("INSERT INTO t(v) VALUES (randomblob(?))", size);
		this.sql.exec("UPDATE t SET v = randomblob(?) WHERE id = (SELECT abs(random()) % max(id) FROM t)", size / 2);
		this.sql.exec("DELETE FROM c");
		this.sql.exec("INSERT INTO c SELECT count(*), sum(length(v)) FROM t");
		return this.sql.exec("SELECT n FROM c").one().n;
	}
	async ring(n) {
		await this.ctx.storage.put("rung", n);
		await this.ctx.storage.setAlarm(Date.now() + 300);
		return n;
	}
	async alarm() { await this.ctx.storage.put("fired", await this.ctx.storage.get("rung")); }
	async state() {
		const { n, s } = this.sql.exec("SELECT coalesce(max(n), 0) n, coalesce(max(s), 0) s FROM c").one();
		const { rows, sum } = this.sql.exec("SELECT count(*) rows, coalesce(sum(length(v)), 0) sum FROM t").one();
		const get = async (key) => (await this.ctx.storage.get(key)) ?? 0;
		return { n, whole: n === rows && s === sum, sum, rung: await get("rung"), fired: await get("fired") };
	}
}
export default { async fetch(request, env) {
	const [, name, op, arg] = new URL(request.url).pathname.split("/");
	return Response.json(await env.LEDGERS.getByName(name)[op](Number(arg)));
} };`

const powerConfig = `{ "name": "power", "main": "index.js", "compatibility_date": "2026-11-01",
	"durable_objects": { "bindings": [{ "name": "LEDGERS", "class_name": "Ledger" }] },
	"migrations": [{ "tag": "v1", "new_sqlite_classes": ["Ledger"] }] }`

// TestPowerFailureWithObjects cuts the power of a server with Durable Objects, so that everything that is
// not on its disk is lost, and starts it as in another boot of the machine. Every acknowledged write
// must be there, no object may be torn or between two of its commits, an alarm must run, and the copy
// in the object store must be equal. The object store is on the same disk, or elsewhere and often away
// when the power fails. What a cut simulates is said at svctest.Disk. It needs root:
//
//	go test -tags e2e,power -run PowerFailureWithObjects ./internal/test/e2e -v -power.cuts 50
func TestPowerFailureWithObjects(t *testing.T) {
	for fs := range strings.SplitSeq(*powerFS, ",") {
		t.Run(fs+", store on the disk", func(t *testing.T) { newPowered(t, fs, nil).run() })
		t.Run(fs+", store elsewhere", func(t *testing.T) { newPowered(t, fs, objectStore(t)).run() })
	}
}

// powered is a server with objects on a disk whose power can be cut.
type powered struct {
	*daemon

	disk  *svctest.Disk
	store *s3test.Store // nil: on the disk
	url   string

	mu      sync.Mutex
	dark    bool // the power is off
	ledgers map[string]*account
	bell    account
	kept    int
	made    int
}

// account is what an object has acknowledged, and what it may have stored besides.
type account struct{ acked, uncertain int }

type ledgerState struct {
	N     int  `json:"n"`
	Whole bool `json:"whole"`
	Sum   int  `json:"sum"`
	Rung  int  `json:"rung"`
	Fired int  `json:"fired"`
}

func newPowered(t *testing.T, fs string, store *s3test.Store) *powered {
	t.Helper()
	var env []string
	if store != nil {
		env = external(store)
	}
	p := &powered{daemon: newDaemon(t, env...), store: store, ledgers: map[string]*account{}}
	if err := os.Mkdir(p.dataDir(), 0o700); err != nil {
		t.Fatal(err)
	}
	p.disk = svctest.NewDisk(t, fs, p.dataDir())
	return p
}

func (p *powered) run() {
	p.boot()
	dir := worker(p.t, powerConfig, map[string]string{"index.js": powerWorker})
	p.deploy(dir, "--version", "production") // which cannot be archived
	p.url = p.deploy(dir, "--version", "v1").PreviewURL
	for round := range *powerCuts {
		if round%5 == 4 {
			p.throughTheStore()
		}
		p.untilTheCut()
		p.soundFiles()
		p.boot()
		p.check()
	}
	p.throughTheStore()
	p.t.Logf("%d cuts, %d objects, %d acknowledged writes kept", *powerCuts, len(p.ledgers), p.kept)
	if p.kept == 0 {
		p.t.Error("nothing was written")
	}
}

// boot starts the server as in a boot of its own: it sees another boot id than the one before.
func (p *powered) boot() {
	p.t.Helper()
	p.disk.Mount()
	p.dark = false
	id := filepath.Join(p.home, "boot_id")
	if err := os.WriteFile(id, fmt.Appendf(nil, "%016x\n", rand.Uint64()), 0o600); err != nil {
		p.t.Fatal(err)
	}
	p.wrap = []string{"unshare", "--mount", "sh", "-c", `mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"`, id}
	if !p.start() {
		p.t.Fatalf("the server does not start:\n%s", p.log.String())
	}
}

// untilTheCut has clients write until the power fails. What is acknowledged after that counts for
// nothing: a machine without power says nothing, and the kernel lets an fsync that has begun succeed.
func (p *powered) untilTheCut() {
	ctx, cancel := context.WithCancel(p.t.Context())
	var clients sync.WaitGroup
	for i := range 4 {
		clients.Go(func() { p.writes(ctx, func() string { return fmt.Sprint("n", i) }) })
	}
	clients.Go(func() { p.writes(ctx, p.another) })
	clients.Go(func() { p.rings(ctx) })
	p.passes(100 + rand.IntN(2000))
	if p.store != nil && rand.IntN(2) == 0 {
		p.store.Way.Down(true)
		p.passes(rand.IntN(1500))
	}
	p.mu.Lock()
	p.dark = true
	p.mu.Unlock()
	p.disk.Cut()
	cancel()
	clients.Wait()
	p.kill()
	p.noProcessesLeft()
	if p.store != nil {
		p.store.Way.Down(false)
	}
	p.disk.Unmount()
}

// passes lets that many milliseconds pass: a power failure waits for no event.
func (p *powered) passes(ms int) { <-time.After(time.Duration(ms) * time.Millisecond) }

func (p *powered) another() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made++
	return fmt.Sprint("new", p.made)
}

// writes adds to objects until ctx ends.
func (p *powered) writes(ctx context.Context, name func() string) {
	for ctx.Err() == nil {
		object := name()
		p.mu.Lock()
		if p.ledgers[object] == nil {
			p.ledgers[object] = &account{}
		}
		e := p.ledgers[object]
		e.uncertain++
		p.mu.Unlock()
		var n int
		if p.asks(ctx, &n, object, "add", 1+rand.IntN(12_000)) == nil {
			p.mu.Lock()
			if !p.dark {
				e.acked, e.uncertain = n, 0
			}
			p.mu.Unlock()
		}
	}
}

func (p *powered) rings(ctx context.Context) {
	for ctx.Err() == nil {
		p.mu.Lock()
		p.bell.uncertain++
		next := p.bell.acked + p.bell.uncertain
		p.mu.Unlock()
		var n int
		if p.asks(ctx, &n, "bell", "ring", next) == nil {
			p.mu.Lock()
			if !p.dark {
				p.bell = account{acked: n}
			}
			p.mu.Unlock()
		}
	}
}

// asks calls a method of an object.
func (p *powered) asks(ctx context.Context, result any, object, method string, arg int) error {
	ctx, cancel := context.WithTimeout(ctx, svctest.Patience)
	defer cancel()
	a, err := p.try(ctx, http.MethodGet, fmt.Sprintf("%s/%s/%s/%d", p.url, object, method, arg), "", "")
	if err == nil && a.Status != http.StatusOK {
		err = fmt.Errorf("%s of %s: %d %s", method, object, a.Status, a.Body)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(a.Body), result)
}

func (p *powered) state(object string) (s ledgerState) {
	p.t.Helper()
	svctest.Succeeds(p.t, object+" to answer", func() error { return p.asks(p.t.Context(), &s, object, "state", 0) })
	return s
}

// check compares every object with what it has acknowledged.
func (p *powered) check() {
	p.t.Helper()
	for name, e := range p.ledgers {
		s := p.state(name)
		if !s.Whole || s.N < e.acked || s.N > e.acked+e.uncertain {
			p.t.Errorf("%s: %+v after %d acknowledged and %d uncertain writes", name, s, e.acked, e.uncertain)
		}
		p.kept += e.acked
		*e = account{acked: s.N}
	}
	s := p.state("bell")
	if s.Rung < p.bell.acked || s.Rung > p.bell.acked+p.bell.uncertain {
		p.t.Errorf("the bell has %d after %+v", s.Rung, p.bell)
	}
	p.bell = account{acked: s.Rung}
	svctest.Eventually(p.t, "the alarm to run", func() bool { return p.state("bell").Fired == s.Rung })
}

// soundFiles checks the files of all objects as SQLite recovers them, on copies.
func (p *powered) soundFiles() {
	p.t.Helper()
	p.disk.Mount()
	defer p.disk.Unmount()
	paths, err := filepath.Glob(filepath.Join(p.dataDir(), "versions", "*", "*", "objects", "*", "*.sqlite"))
	if err != nil {
		p.t.Fatal(err)
	}
	copied := filepath.Join(p.t.TempDir(), "object.sqlite")
	for _, path := range paths {
		for _, end := range []string{"", "-wal"} {
			_ = os.Remove(copied + end)
			if data, err := os.ReadFile(path + end); err == nil {
				if err := os.WriteFile(copied+end, data, 0o600); err != nil {
					p.t.Fatal(err)
				}
			}
		}
		_ = os.Remove(copied + "-shm")
		if err := sound(copied); err != nil {
			p.t.Errorf("%s: %v", path, err)
		}
	}
}

func sound(path string) error {
	c, err := raw.Open(path, raw.Options{})
	if err != nil {
		return err
	}
	defer c.Close()
	result := ""
	err = c.Query("PRAGMA integrity_check", nil, func(s *raw.Stmt) error { result += s.Text(0); return nil })
	if err == nil && result != "ok" {
		err = fmt.Errorf("integrity_check: %s", result)
	}
	return err
}

// throughTheStore deletes the files of all objects and makes them again from the object store.
func (p *powered) throughTheStore() {
	p.t.Helper()
	names := slices.Collect(maps.Keys(p.ledgers))
	before := map[string]ledgerState{}
	for _, name := range names {
		before[name] = p.state(name)
	}
	p.ok(p.home, "versions", "archive", "power/v1")
	p.ok(p.home, "versions", "wake", "power/v1")
	for _, name := range names {
		if after := p.state(name); after != before[name] {
			p.t.Errorf("%s: the object store has %+v, the files had %+v", name, after, before[name])
		}
	}
}
