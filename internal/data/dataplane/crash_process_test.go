package dataplane_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/replica"
	"github.com/svcctl/svcctl/internal/data/s3"
	"github.com/svcctl/svcctl/internal/data/s3/s3test"
	"github.com/svcctl/svcctl/internal/test/crashtest"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// hostRoleName is the role that runs a hostRole.
const hostRoleName = "host"

// start starts the process, which the end of the test kills.
func (p *hostRole) start(t *testing.T, store s3.Config) *svctest.Process {
	t.Helper()
	p.Store.Endpoint, p.Store.Access, p.Store.Secret = store.Endpoint, store.AccessKey, store.SecretKey.Reveal()
	text, err := json.Marshal(p) //nolint:musttag // both ends are this test
	if err != nil {
		t.Fatal(err)
	}
	return svctest.Start(t, hostRoleName, string(text))
}

// slot is one writer of one database.
type slot struct{ store, writer int }

// ack is an acknowledged write, with the times of its request and its acknowledgment.
type ack struct {
	slot
	n            int
	began, acked int64
}

// words is the parsed output of a process.
type words struct {
	ready           bool
	lost            string
	have            map[slot][2]int // newest and count, when it began
	acks            []ack
	seen            []ack
	cuts            []taken
	refused, failed []string
	log             string
}

// listen parses the output of an ended process, whose last line may be incomplete.
func listen(t *testing.T, p *svctest.Process) (w words) {
	t.Helper()
	<-p.Ended()
	w.have, w.log = map[slot][2]int{}, p.Stderr()
	said := p.Lines()
	for i, line := range said {
		if err := w.understand(line); err != nil && (i < len(said)-1 || !p.Killed()) {
			w.failed = append(w.failed, line)
		}
	}
	if state := p.State(); !p.Killed() && !state.Success() {
		w.failed = append(w.failed, state.String())
	}
	for _, line := range w.failed {
		t.Errorf("the process says %s\n%s", line, p.Stderr())
	}
	return w
}

func (w *words) understand(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	var a ack
	var have [2]int
	switch word {
	case "READY":
		w.ready = true
	case "LOST", "SHUT":
		w.lost, _, _ = strings.Cut(rest, " ")
	case "REFUSED":
		w.refused = append(w.refused, rest)
	case "HAVE":
		_, err := fmt.Sscan(rest, &a.store, &a.writer, &have[0], &have[1])
		w.have[a.slot] = have
		return err
	case "ACK":
		if _, err := fmt.Sscan(rest, &a.store, &a.writer, &a.n, &a.began, &a.acked); err != nil {
			return err
		}
		w.acks = append(w.acks, a)
	case "SAW":
		if _, err := fmt.Sscan(rest, &a.store, &a.writer, &a.n, &a.began); err != nil {
			return err
		}
		w.seen = append(w.seen, a)
	case "CUT":
		var c taken
		if err := json.Unmarshal([]byte(rest), &c); err != nil { //nolint:musttag // both ends are this test
			return err
		}
		w.cuts = append(w.cuts, c)
	default:
		return errors.New("what?")
	}
	return nil
}

// counts is the count of each writer, from the bucket alone; empty for a database without a log.
func counts(t *testing.T, store *s3test.Store, prefix string, i int) map[slot]int {
	t.Helper()
	log := logOf(t, store.Open(prefix), storeOf(i))
	path := filepath.Join(t.TempDir(), "counts.sqlite")
	if err := log.Restore(t.Context(), log.Position(), path); err != nil {
		t.Fatal(err)
	}
	if _, err := crashtest.Sound(path); err != nil {
		t.Fatal(err)
	}
	return countsIn(t, i, path)
}

// restoreCut restores one database of a cut to path.
func restoreCut(t *testing.T, store *s3test.Store, prefix string, c branch.Cut, path string) error {
	t.Helper()
	plan, err := branch.Plan(c.Files, c.TXID)
	if err != nil {
		return err
	}
	src, err := replica.NewSource(t.Context(), store.Open(prefix), plan)
	if err != nil {
		return err
	}
	return src.Restore(t.Context(), path)
}
