package kit

import (
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/lib/text"
)

// Progress shows long work: on a terminal one line that is redrawn, elsewhere
// one line per stage. Not safe for concurrent use.
type Progress struct {
	k     *Kit
	fancy bool
	stage string
	since time.Time
	drawn time.Time
	told  string // the last remark
}

// NewProgress starts without a stage.
func (k *Kit) NewProgress() *Progress { return &Progress{k: k, fancy: k.Fancy()} }

// Stage ends the stage before and begins one. The same name again is no change.
func (p *Progress) Stage(name string) {
	if name == p.stage {
		return
	}
	p.Done("")
	p.stage, p.since = name, time.Now()
	if p.fancy {
		p.k.draw(name + " ...")
	}
}

// Remark says what the stage waits for; "" for nothing. The same text again is no change.
func (p *Progress) Remark(remark string) {
	if remark == p.told {
		return
	}
	p.told = remark
	if remark != "" {
		p.k.draw("")
		p.k.Notef("%s: %s", p.stage, remark)
	}
	if p.fancy {
		p.k.draw(p.stage + " ...")
	}
}

// Bytes shows how far the stage is; total 0 is unknown.
func (p *Progress) Bytes(done, total int64) {
	if !p.fancy || time.Since(p.drawn) < 50*time.Millisecond && done < total {
		return
	}
	p.drawn = time.Now()
	p.k.draw(fmt.Sprintf("%s %s of %s", p.stage, text.Bytes(done), text.Bytes(total)))
}

// Done ends the stage with a note, which may be "".
func (p *Progress) Done(note string) {
	if p.stage == "" {
		return
	}
	took := time.Since(p.since)
	p.k.Event("stage", EventStage{p.stage, took.Milliseconds()})
	line := fmt.Sprintf("%s (%s)", p.stage, took.Round(time.Millisecond))
	if note != "" {
		line += ": " + Clean(note)
	}
	p.k.draw("")
	p.k.Notef("%s", line)
	p.stage = ""
}

// Past prints a finished stage with the duration that the server measured. It
// ends the current stage, which may be the same one.
func (p *Progress) Past(name string, took time.Duration) {
	if p.stage != name {
		p.Done("")
	}
	p.k.draw("")
	p.stage = ""
	p.k.Event("step", EventStage{name, took.Milliseconds()})
	p.k.Notef("%s (%s)", name, took.Round(time.Millisecond))
}

// Abort removes the current stage from the terminal; the caller prints the error.
func (p *Progress) Abort() {
	p.k.draw("")
	p.stage = ""
}
