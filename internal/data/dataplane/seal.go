package dataplane

import (
	"context"
	"sync"
)

// Sealed is a Cut of a release: writes wait from its position on, until Open or Refuse. It has
// the databases that belong to the version alone, too.
type Sealed struct {
	Staged

	once sync.Once
	open func()
}

// Seal is Stage of the whole version. Nothing is written after the position that it chose.
func (v *Volumes) Seal(ctx context.Context) (*Sealed, error) {
	s, open, err := v.stageCut(ctx, true)
	if err != nil {
		return nil, err
	}
	return &Sealed{Staged: *s, open: open}, nil
}

// Open admits the writes that wait, and later ones. After Refuse it does nothing.
func (s *Sealed) Open() { s.once.Do(s.open) }

// Refuse has the writes that wait, and all later ones of this process, fail with err: the data
// belongs to another version from now on. A process that was sealed and then refused writes
// accepts none until it ends, so no work that it began for production can write afterwards.
func (s *Sealed) Refuse(err error) {
	s.volumes.gate.setRefuse(err)
	s.once.Do(s.open)
}

// Positions returns the transaction of the parent at which each database began: 0 for one that
// is open and began empty.
func (v *Volumes) Positions() map[string]uint64 {
	at := map[string]uint64{}
	if v.manifest != nil {
		for name, base := range v.manifest.Databases { // also own ones, which a cut may leave out
			at[name] = base.TXID
		}
	}
	for _, db := range *v.open.Load() {
		at[db.name] = db.History().Fork
	}
	return at
}

// SetReadOnly has the writes of the worker fail with err, while its reads and the writes of the
// platform continue; nil ends that. What Refuse has refused stays refused.
func (v *Volumes) SetReadOnly(err error) { v.gate.setReadOnly(err) }

// Refused returns how many writes have failed because of Refuse.
func (v *Volumes) Refused() int { return v.gate.refusals() }
