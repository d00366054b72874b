package replica_test

import (
	"bytes"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/superfly/ltx"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/replica"
	"github.com/svcctl/svcctl/internal/svc"
)

const pageSize = 512

// model is a database file as a list of pages, and its history.
type model struct {
	rng     *rand.Rand
	pages   [][]byte
	history map[replica.TXID][]byte // the file right after each transaction
	txid    replica.TXID
}

func newModel(seed uint64) *model {
	return &model{rng: rand.New(rand.NewPCG(seed, 2)), history: map[replica.TXID][]byte{0: {}}}
}

// fork is a model with the same history up to txid and other changes after it.
func (m *model) fork(txid replica.TXID, seed uint64) *model {
	c := newModel(seed)
	c.txid = txid
	for id, file := range m.history {
		if id <= txid {
			c.history[id] = file
		}
	}
	for page := range slices.Chunk(slices.Clone(m.history[txid]), pageSize) {
		c.pages = append(c.pages, page)
	}
	return c
}

// tx makes the next transaction: some pages rewritten, now and then grown or shrunk.
func (m *model) tx(t testing.TB) []byte {
	t.Helper()
	before := len(m.pages)
	dirty := map[int]bool{}
	switch r := m.rng.IntN(20); {
	case before == 0 || r < 5:
		for range 1 + m.rng.IntN(12) {
			m.pages = append(m.pages, nil)
		}
	case r == 5 && before > 2:
		m.pages = m.pages[:1+m.rng.IntN(before-1)]
	}
	for i := min(before, len(m.pages)); i < len(m.pages); i++ {
		dirty[i] = true
	}
	for range 1 + m.rng.IntN(6) {
		dirty[m.rng.IntN(len(m.pages))] = true
	}
	for i := range dirty {
		m.pages[i] = m.page()
	}
	m.txid++
	m.history[m.txid] = bytes.Join(m.pages, nil)
	return m.encode(t, dirty)
}

// page is random or repetitive, so that some pages compress and some do not.
func (m *model) page() []byte {
	page := make([]byte, pageSize)
	for i := range m.rng.IntN(pageSize) {
		page[i] = byte(m.rng.Uint32())
	}
	return page
}

func (m *model) encode(t testing.TB, dirty map[int]bool) []byte {
	t.Helper()
	return encode(t, m.txid, m.pages, dirty)
}

func encode(t testing.TB, txid replica.TXID, pages [][]byte, dirty map[int]bool) []byte {
	t.Helper()
	var out bytes.Buffer
	enc, err := ltx.NewEncoder(&out)
	if err != nil {
		t.Fatal(err)
	}
	must(t, enc.EncodeHeader(ltx.Header{
		Version: ltx.Version, Flags: ltx.HeaderFlagNoChecksum, PageSize: uint32(len(pages[0])), Commit: uint32(len(pages)),
		MinTXID: txid, MaxTXID: txid, Timestamp: int64(txid),
	}))
	for i, page := range pages {
		if dirty[i] {
			must(t, enc.EncodePage(ltx.PageHeader{Pgno: uint32(i) + 1}, page))
		}
	}
	must(t, enc.Close())
	return out.Bytes()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func ref(version string) svc.Ref { return svc.Ref{Project: "p", Version: version} }

func open(t testing.TB, b objstore.Bucket, version string, base *branch.DatabaseBase) *replica.Log {
	t.Helper()
	l, err := replica.Open(t.Context(), replica.Config{
		Bucket: b, Prefix: branch.DatabasePrefix(ref(version), "main"), Base: base,
		TempDir: t.TempDir(), Logger: slog.New(slog.DiscardHandler),
	})
	must(t, err)
	return l
}

// same restores the log at txid, by file and by pages, and compares with the model.
func same(t testing.TB, l *replica.Log, m *model, txid replica.TXID) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "db")
	must(t, l.Restore(t.Context(), txid, path))
	got := sameFile(t, path, m, txid)
	plan, err := l.Plan(txid)
	must(t, err)
	src, err := l.Source(t.Context(), plan, earlier(t, l, m, txid))
	must(t, err)
	if n := int(src.Pages()); n > 0 {
		first := 1 + m.rng.IntN(n)
		buf := make([]byte, (1+m.rng.IntN(n-first+1))*src.PageSize())
		must(t, src.ReadPages(t.Context(), uint32(first), buf))
		if !bytes.Equal(buf, got[(first-1)*pageSize:][:len(buf)]) {
			t.Fatalf("pages from %d at %d differ", first, txid)
		}
	}
}

// earlier is a source of the log at a transaction before txid, or none.
func earlier(t testing.TB, l *replica.Log, m *model, txid replica.TXID) *replica.Source {
	t.Helper()
	if txid == 0 || m.rng.IntN(2) == 0 {
		return nil
	}
	plan, err := l.Plan(txid - replica.TXID(m.rng.IntN(int(min(txid, 8)))))
	if err != nil { // it is in the middle of a merged file
		return nil
	}
	src, err := l.Source(t.Context(), plan, nil)
	must(t, err)
	return src
}

// sameFile compares the restored file with the model.
func sameFile(t testing.TB, path string, m *model, txid replica.TXID) []byte {
	t.Helper()
	got := readFile(t, path)
	if !bytes.Equal(got, m.history[txid]) {
		t.Fatalf("restored at %d: %d bytes that differ from the %d of the model", txid, len(got), len(m.history[txid]))
	}
	return got
}
