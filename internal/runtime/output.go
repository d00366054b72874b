package runtime

import (
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/svcctl/svcctl/internal/control"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/workerd"
)

const (
	keptOutput = 16 << 10 // bytes of each output, to explain an end
	wordLines  = 5        // console lines that go with a start that failed
	wordLength = 200      // bytes of each
)

// output reads one output of workerd: into the log, and the last of it is kept.
type output struct {
	log *logFile

	mu      sync.Mutex // guards what follows
	kept    []byte
	cut     bool     // kept does not begin where the output did
	words   []string // the last console lines, whole, for a part of a secret is not known for one
	settled bool     // workerd serves
}

func newOutput(log *logFile) *output { return &output{log: log} }

// read takes f and reads it to its end, whatever comes: workerd stops serving
// when nobody reads.
func (o *output) read(f *os.File) {
	defer f.Close()
	_ = workerd.ReadLog(io.TeeReader(f, o), o.line) // it ends with workerd
	_, _ = io.Copy(io.Discard, f)
}

// Write keeps the last bytes. It never fails.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	last := p[max(0, len(p)-keptOutput):]
	if len(last) < len(p) {
		o.kept, o.cut = o.kept[:0], true
	}
	o.kept = append(o.kept, last...)
	if len(o.kept) > 2*keptOutput {
		o.kept, o.cut = append(o.kept[:0], o.kept[len(o.kept)-keptOutput:]...), true
	}
	return len(p), nil
}

func (o *output) line(l workerd.LogLine) {
	o.log.Write(l)
	if l.Source != workerd.SourceConsole {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.settled {
		return
	}
	o.words = append(o.words, l.Level+": "+l.Message)
	if len(o.words) > wordLines {
		o.words = append(o.words[:0], o.words[1:]...)
	}
}

// settle drops the last words: a worker that serves logs much, and they are of
// no use any more.
func (o *output) settle() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.words, o.settled = nil, true
}

// last is the last of the output, in whole lines: a variable that lost its
// beginning could not be redacted.
func (o *output) last() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.cut {
		return string(o.kept)
	}
	_, lines, _ := strings.Cut(string(o.kept), "\n")
	return lines
}

// lastWords are the worker's last console lines, to follow a reason; "" for
// none.
func (w *worker) lastWords() string {
	w.stdout.mu.Lock()
	words := slices.Clone(w.stdout.words)
	w.stdout.mu.Unlock()
	if len(words) == 0 {
		return ""
	}
	for i, word := range words {
		word = svc.Redact(word, w.env)
		words[i] = strings.ToValidUTF8(word[:min(len(word), wordLength)], "")
	}
	return "\nthe worker's last words:\n" + strings.Join(words, "\n")
}

// explainExit says why a worker that served is gone.
func (w *worker) explainExit() control.Exit {
	// Of what was printed while it served, this alone is surely why it ended.
	if code, _ := workerd.Explain(w.stderr.last()+w.stdout.last(), nil); code == workerd.CodeOutOfMemory {
		return control.Exit{Code: code, Detail: "the worker ran out of memory"}
	}
	return control.Exit{Code: "workerd_exited", Detail: "workerd ended: " + w.cmd.ProcessState.String()}
}
