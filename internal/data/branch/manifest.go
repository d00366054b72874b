package branch

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Manifest is the fork a version began with: branch.json. Immutable.
type Manifest struct {
	Parent    svc.Ref
	ForkID    string // distinguishes a retry of a fork from another fork
	At        time.Time
	Databases map[string]DatabaseBase // by database name
}

// DatabaseBase is where one database of a child begins: the state of the parent's
// database right after TXID, and the files that restore it.
type DatabaseBase struct {
	Kind     string `json:"kind"` // "database" or "sys"; informative
	PageSize int    `json:"page_size"`
	TXID     uint64 `json:"txid"`  // 0: the parent's database was empty
	Files    []File `json:"files"` // a restore plan, and the level 0 file of TXID
	// Origins are the ancestors whose rows BlobDatabase has inherited, nearest first:
	// nil when they are not known, and for every other database. Those of a Cut do
	// not include the version that is cut; Fork adds it.
	Origins []Origin `json:"origins"`
}

// Cut is one database's part of a fork; the owner of the log computes it.
type Cut = DatabaseBase

// VersionCut is a cut of all databases of a version, at which a child can begin.
type VersionCut struct {
	Databases map[string]Cut `json:"databases"`
	Warm      string         `json:"warm"` // for svc.Forked; "" when the parent's files cannot be used
}

// manifestVersion is the format written, packedVersion that of a manifest with files in history objects, so
// that programs that do not know them reject it; readers reject newer ones.
const (
	manifestVersion = 1
	packedVersion   = 2
)

type wireManifest struct {
	V         int                     `json:"v"`
	Parent    string                  `json:"parent"`
	ForkID    string                  `json:"fork_id"`
	At        time.Time               `json:"at"`
	Src       []string                `json:"src"`             // prefixes, named by index from base
	Packs     []string                `json:"packs,omitempty"` // keys of history objects, the same
	Databases map[string]wireDatabase `json:"stores"`
}

type wireDatabase struct {
	Kind     string    `json:"kind"`
	PageSize int       `json:"page_size"`
	ForkTXID uint64    `json:"fork_txid"`
	Base     [][]int64 `json:"base"`             // src, level, min, max, size; of a file in a history object also its pack and offset
	Origins  []Origin  `json:"origins,omitzero"` // nil (not known) differs from empty
}

// The lengths of a row of wireDatabase.Base.
const (
	plainRow  = 5
	packedRow = 7
)

// MarshalJSON writes the compact form: prefixes once, files as number rows.
func (m *Manifest) MarshalJSON() ([]byte, error) {
	w := wireManifest{V: manifestVersion, Parent: m.Parent.String(), ForkID: m.ForkID, At: m.At.UTC(), Src: []string{}, Databases: map[string]wireDatabase{}}
	for _, base := range m.Databases {
		for _, f := range base.Files {
			w.Src = append(w.Src, f.Prefix)
			if f.Pack != "" {
				w.V, w.Packs = packedVersion, append(w.Packs, f.Pack)
			}
		}
	}
	slices.Sort(w.Src)
	slices.Sort(w.Packs)
	w.Src, w.Packs = slices.Compact(w.Src), slices.Compact(w.Packs)
	for name, base := range m.Databases {
		rows := make([][]int64, 0, len(base.Files))
		for _, f := range base.Files {
			src, _ := slices.BinarySearch(w.Src, f.Prefix)
			row := []int64{int64(src), int64(f.Level), int64(f.Min), int64(f.Max), f.Size} //nolint:gosec // transaction numbers count up from 1
			if f.Pack != "" {
				pack, _ := slices.BinarySearch(w.Packs, f.Pack)
				row = append(row, int64(pack), f.Off)
			}
			rows = append(rows, row)
		}
		w.Databases[name] = wireDatabase{Kind: base.Kind, PageSize: base.PageSize, ForkTXID: base.TXID, Base: rows, Origins: base.Origins}
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON wrote and checks it.
func (m *Manifest) UnmarshalJSON(data []byte) error {
	var w wireManifest
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	if w.V != manifestVersion && (w.V != packedVersion || len(w.Packs) == 0) {
		return fmt.Errorf("branch manifest has format %d; this program reads %d", w.V, manifestVersion)
	}
	parent, rest, ok := splitKey(w.Parent + "/")
	if !ok || rest != "" {
		return fmt.Errorf("branch manifest has the invalid parent %q", w.Parent)
	}
	*m = Manifest{Parent: parent, ForkID: w.ForkID, At: w.At, Databases: make(map[string]DatabaseBase, len(w.Databases))}
	for name, s := range w.Databases {
		base := DatabaseBase{Kind: s.Kind, PageSize: s.PageSize, TXID: s.ForkTXID, Origins: s.Origins}
		for _, row := range s.Base {
			f, err := fileOf(row, w.Src, w.Packs)
			if err != nil {
				return fmt.Errorf("database %s: %w", name, err)
			}
			base.Files = append(base.Files, f)
		}
		m.Databases[name] = base
	}
	return m.check()
}

func fileOf(row []int64, src, packs []string) (File, error) {
	if len(row) != plainRow && len(row) != packedRow {
		return File{}, fmt.Errorf("a file row has %d numbers", len(row))
	}
	for _, n := range row {
		if n < 0 {
			return File{}, fmt.Errorf("a file row has the negative number %d", n)
		}
	}
	if row[0] >= int64(len(src)) {
		return File{}, fmt.Errorf("a file row has source %d of %d", row[0], len(src))
	}
	f := File{Prefix: src[row[0]], Level: int(row[1]), Min: uint64(row[2]), Max: uint64(row[3]), Size: row[4]} //nolint:gosec // not negative
	if len(row) == packedRow {
		if row[5] >= int64(len(packs)) {
			return File{}, fmt.Errorf("a file row has history object %d of %d", row[5], len(packs))
		}
		f.Pack, f.Off = packs[row[5]], row[6]
	}
	return f, nil
}

// check verifies that each database can be restored from its files, and that no
// file holds a transaction after the cut.
func (m *Manifest) check() error {
	for name, base := range m.Databases {
		if err := CheckDatabase(name); err != nil {
			return err
		}
		for _, f := range base.Files {
			if f.Max > base.TXID || f.Min == 0 || f.Min > f.Max || f.Size <= 0 {
				return fmt.Errorf("database %s is cut at %d and has the file %s (%d bytes)", name, base.TXID, f.Key(), f.Size)
			}
		}
		if _, err := Plan(base.Files, base.TXID); err != nil {
			return fmt.Errorf("database %s: %w", name, err)
		}
	}
	return nil
}
