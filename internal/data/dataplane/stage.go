package dataplane

import (
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/data/replica"
)

// staged says what an attempt to ship covers: commits up to mark, in segments up to txid. Later commits
// were made after at.
type staged struct {
	txid replica.TXID
	mark uint64
	at   time.Time
}

// stage stages what is to be shipped next: the last point, if it is not shipped yet, else a new one, else
// everything committed, which the next point covers.
func (p *shipper) stage(ctx context.Context, points bool) (staged, error) {
	v := p.db.volumes
	points = points && v.cfg.History && !isOwn(p.db.name)
	point, waits := p.waiting()
	if points && !v.cfg.Sync {
		if all := p.rushed; all || !waits {
			p.rushed = false
			made := v.tryPoint(ctx, false)
			point, waits = p.waiting()
			waits = waits && (made || !all)
		}
		if waits {
			var err error
			point.txid, err = p.db.file.StageNoted()
			return point, err
		}
	}
	goal := staged{mark: p.mark(), at: time.Now()}
	var err error
	goal.txid, err = p.db.file.Stage()
	if points && goal.mark > point.mark {
		v.pointLater()
	}
	return goal, err
}

// waiting returns what the newest point covers, and whether some of it is not shipped.
func (p *shipper) waiting() (point staged, waits bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.point, p.point.mark > p.shipped
}

// noted records that a point covers every commit so far. No writer runs.
func (p *shipper) noted() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.point = staged{mark: p.written, at: time.Now()}
}

// late reports whether a commit waits to be appended.
func (p *shipper) late() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.written > p.shipped
}
