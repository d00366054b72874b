package dataplane_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/branch"
	"github.com/svcctl/svcctl/internal/replica"
	"github.com/svcctl/svcctl/internal/s3"
	"github.com/svcctl/svcctl/internal/torturetest"
)

// life is a process that runs a prey.
type life struct {
	cmd   *osexec.Cmd
	ended chan struct{}
	errs  strings.Builder

	mu    sync.Mutex
	said  []string
	waits map[string]chan struct{} // by the word that is waited for
}

// start starts a life, which ends with the test.
func (p *prey) start(t *testing.T, store s3.Config) *life {
	t.Helper()
	p.Store.Endpoint, p.Store.Access, p.Store.Secret = store.Endpoint, store.AccessKey, store.SecretKey.Reveal()
	text, err := json.Marshal(p) //nolint:musttag // both ends are this test
	if err != nil {
		t.Fatal(err)
	}
	l := &life{cmd: osexec.Command(os.Args[0]), ended: make(chan struct{}), waits: map[string]chan struct{}{}}
	l.cmd.Env = append(os.Environ(), preyEnv+"="+string(text))
	l.cmd.Stderr = &l.errs
	out, err := l.cmd.StdoutPipe()
	if err == nil {
		err = l.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(l.ended)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 16<<20) // a cut may name many files
		for lines.Scan() {
			l.hear(lines.Text())
		}
		_ = l.cmd.Wait() // the state says it all
	}()
	t.Cleanup(l.kill)
	return l
}

func (l *life) hear(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said = append(l.said, line)
	word, _, _ := strings.Cut(line, " ")
	if c := l.waits[word]; c != nil {
		close(c)
		delete(l.waits, word)
	}
}

// next is closed when the life says a word again.
func (l *life) next(word string) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waits[word] == nil {
		l.waits[word] = make(chan struct{})
	}
	return l.waits[word]
}

// await waits until the life says a word, again, and reports whether it did
// before it ended.
func (l *life) await(t *testing.T, word string, limit time.Duration) bool {
	t.Helper()
	select {
	case <-l.next(word):
		return true
	case <-l.ended:
		return false
	case <-time.After(limit):
		t.Fatalf("no %s in %v:\n%s", word, limit, l.errs.String())
		return false
	}
}

func (l *life) signal(s syscall.Signal) { _ = l.cmd.Process.Signal(s) } // it may have ended

// kill ends it without a word.
func (l *life) kill() {
	l.signal(syscall.SIGKILL)
	<-l.ended
}

// killed tells whether it was killed from outside.
func (l *life) killed() bool {
	status, ok := l.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signal() == syscall.SIGKILL
}

// slot is what one writer of a store has written.
type slot struct{ store, writer int }

// ack is a write that was acknowledged: when it was asked for and when it was told.
type ack struct {
	slot
	n           int
	began, told int64
}

// words are what a life said, understood.
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

// listen understands an ended life. A kill may have cut its last line.
func (l *life) listen(t *testing.T) (w words) {
	t.Helper()
	<-l.ended
	w.have, w.log = map[slot][2]int{}, l.errs.String()
	for i, line := range l.said {
		if err := w.understand(line); err != nil && (i < len(l.said)-1 || !l.killed()) {
			w.failed = append(w.failed, line)
		}
	}
	if state := l.cmd.ProcessState; !l.killed() && !state.Success() && len(w.failed) == 0 {
		w.failed = append(w.failed, state.String())
	}
	for _, line := range w.failed {
		t.Errorf("the process says %s\n%s", line, l.errs.String())
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
		if _, err := fmt.Sscan(rest, &a.store, &a.writer, &a.n, &a.began, &a.told); err != nil {
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

// counts is how far each writer is in a store, from the bucket alone; "" of a
// store that the log does not have.
func counts(t *testing.T, store *torturetest.Store, prefix string, i int) map[slot]int {
	t.Helper()
	log := logOf(t, store.Open(prefix), storeOf(i))
	path := filepath.Join(t.TempDir(), "counts.sqlite")
	if err := log.Restore(t.Context(), log.Position(), path); err != nil {
		t.Fatal(err)
	}
	if _, err := torturetest.Sound(path); err != nil {
		t.Fatal(err)
	}
	return countsIn(t, i, path)
}

// restoreCut restores one store of a cut to path.
func restoreCut(t *testing.T, store *torturetest.Store, prefix string, c branch.Cut, path string) error {
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
