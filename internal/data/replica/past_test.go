package replica_test

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/superfly/ltx"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/replica"
)

// TestPastNamesKeptFiles: a plan of the past has only history objects, and merged files that sweeps keep for them.
func TestPastNamesKeptFiles(t *testing.T) {
	t.Parallel()
	b := new(memstore.Bucket)
	prefix := branch.DatabasePrefix(ref("v1"), "main")
	log, err := replica.Open(t.Context(), replica.Config{Bucket: b, Prefix: prefix, New: true, History: true, TempDir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	for id := replica.TXID(1); id <= 12; id++ {
		must(t, log.Append(t.Context(), id, pointPage(t, id)))
		_, err := log.Compact(t.Context(), replica.Policy{Files: 2, SnapshotRatio: 1e9})
		must(t, err)
	}
	listing, err := objstore.ListAll(t.Context(), b, prefix+"/")
	must(t, err)
	h, err := replica.OpenHistory(t.Context(), replica.HistoryConfig{Bucket: b, Prefix: prefix, Listing: listing, Keep: 1})
	must(t, err)
	for id := uint64(1); id <= 12; id++ {
		cut, err := h.Cut(t.Context(), id)
		if err != nil || cut.TXID != id {
			t.Fatalf("cut at %d: %+v, %v", id, cut, err)
		}
		for _, f := range cut.Files {
			if f.Pack == "" && (f.Level == 1 || f.Level == 0 && f.Max <= log.Packed()) {
				t.Errorf("the plan of %d has %s", id, f.Key())
			}
		}
	}
}

// pointPage is a transaction of one page that ends at a point.
func pointPage(t *testing.T, id replica.TXID) []byte {
	t.Helper()
	var b bytes.Buffer
	enc, err := ltx.NewEncoder(&b)
	must(t, err)
	must(t, enc.EncodeHeader(ltx.Header{
		Version: ltx.Version, Flags: ltx.HeaderFlagNoChecksum, PageSize: pageSize, Commit: 1, MinTXID: id, MaxTXID: id,
		Timestamp: int64(id), NodeID: branch.Place(1, uint64(id)),
	}))
	page := make([]byte, pageSize)
	page[0] = byte(id)
	must(t, enc.EncodePage(ltx.PageHeader{Pgno: 1}, page))
	must(t, enc.Close())
	return b.Bytes()
}
