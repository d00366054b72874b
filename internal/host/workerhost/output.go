package workerhost

import (
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	keptOutput    = 16 << 10 // bytes of each output, to explain an end
	consoleLines  = 5        // console lines that go with a start that failed
	consoleLength = 200      // bytes of each
)

// output reads one output of workerd: into the log, and the last of it is kept.
type output struct {
	log  *logbook
	emit func(workerd.LogLine)      // logs a line, or drops it
	own  func(workerd.LogLine) bool // whether a line is for the log

	spans func(json string) // takes spans

	mu      sync.Mutex // guards what follows
	kept    []byte
	cut     bool     // kept does not begin where the output did
	console []string // the last console lines, whole: a part of a secret cannot be redacted
	settled bool     // workerd serves
}

func newOutput(log *logbook) *output {
	return &output{log: log, emit: log.Write, own: func(workerd.LogLine) bool { return true }, spans: func(string) {}}
}

// read takes f and reads it to its end, whatever comes: workerd stops serving
// when the output is not read.
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
	if l.Source == workerd.SourceSpans {
		o.spans(l.Message)
		return
	}
	if !o.own(l) {
		return
	}
	o.emit(l)
	if l.Source != workerd.SourceConsole {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.settled {
		return
	}
	o.console = append(o.console, l.Level+": "+l.Message)
	if len(o.console) > consoleLines {
		o.console = append(o.console[:0], o.console[1:]...)
	}
}

// settle drops the final output: once the worker serves, it explains nothing.
func (o *output) settle() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.console, o.settled = nil, true
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

// finalOutput is the last console lines of a worker that did not start, redacted
// and shortened; "" for none.
func (w *worker) finalOutput() string {
	w.stdout.mu.Lock()
	lines := slices.Clone(w.stdout.console)
	w.stdout.mu.Unlock()
	for i, line := range lines {
		line = svc.Redact(line, w.env)
		lines[i] = strings.ToValidUTF8(line[:min(len(line), consoleLength)], "")
	}
	return strings.Join(lines, "\n")
}

// explainExit says why a worker that served is gone.
func (w *worker) explainExit() control.Exit {
	if e := w.tooMuchMemory(); e != nil {
		return *e
	}
	// Of what was printed while it served, this alone is surely why it ended.
	if code, _ := workerd.Explain(w.stderr.last()+w.stdout.last(), nil); code == svc.CodeOutOfMemory {
		return control.Exit{Code: code, Detail: "the worker ran out of memory"}
	}
	return control.Exit{Code: svc.CodeWorkerdExited, Detail: "workerd ended: " + w.cmd.ProcessState.String()}
}
