//go:build simulate

package simulate

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"time"
)

// trace is what happened in a run: its hash always, its lines when they are kept.
type trace struct {
	sum   hash.Hash
	keep  bool
	lines []string
}

func newTrace() *trace { return &trace{sum: sha256.New()} }

// add adds a line with the virtual time. The kept line also has the state of the runtime's random
// numbers, which differ from the first decision on that two runs do not share.
func (t *trace) add(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	fmt.Fprintf(t.sum, "%d %s\n", time.Now().UnixNano(), line)
	if t.keep {
		t.lines = append(t.lines, fmt.Sprintf("%s %04x %s", time.Now().UTC().Format("04:05.000"), simPeek()>>48, line))
	}
}

// violation is a rule of the oracle that did not hold.
type violation struct{ rule, text string }

func (v violation) String() string { return v.rule + ": " + v.text }

// violate records a violation. The name of the rule is what a shrunk seed must keep.
func (w *world) violate(rule, format string, args ...any) {
	v := violation{rule, fmt.Sprintf(format, args...)}
	w.violations = append(w.violations, v)
	w.trace.add("VIOLATION %s", v)
}
