package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// row is one line of the result.
type row struct {
	figure string
	what   string
	ours   string
	beside string // "" without a peer
	ratio  string
	goal   string // "" for no goal
	met    bool
	others float64 // processors that other things kept busy meanwhile
}

// atMost and atLeast judge a figure against a goal.
func (r row) atMost(figure, goal float64, unit string) row {
	r.goal, r.met = fmt.Sprintf("at most %g%s", goal, unit), figure <= goal
	return r
}

func (r row) atLeast(figure, goal float64, unit string) row {
	r.goal, r.met = fmt.Sprintf("at least %g%s", goal, unit), figure >= goal
	return r
}

func (r row) String() string {
	met := "no"
	switch {
	case r.goal == "":
		met = ""
	case r.met:
		met = "yes"
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %.1f |\n", r.what, r.ours, r.beside, r.ratio, r.goal, met, r.others)
}

// report prints the machine and a table for each figure, as Markdown.
func report(w io.Writer, b *bench, rows []row) error {
	var s strings.Builder
	fmt.Fprintf(&s, "%s, %d CPUs (%s), load %s, %s/%s, %s; %s\n", time.Now().Format(time.DateOnly), runtime.NumCPU(), processor(), b.load,
		runtime.GOOS, runtime.GOARCH, version(b.program.Workerd, "--version"), proxies())
	for i, r := range rows {
		if i == 0 || r.figure != rows[i-1].figure {
			fmt.Fprintf(&s, "\n| %s | ours | beside | ratio | goal | met | others |\n|---|--:|--:|--:|---|---|--:|\n", r.figure)
		}
		s.WriteString(r.String())
	}
	_, err := io.WriteString(w, s.String())
	return err
}

// processor is the name of the processors.
func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo") // one without a name has none in the report
	_, text, _ = bytes.Cut(text, []byte("model name"))
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return strings.TrimLeft(string(line), "\t :")
}

// loadAverage is that of the last 1, 5 and 15 minutes.
func loadAverage() string {
	text, _ := os.ReadFile("/proc/loadavg") // as above
	fields := strings.Fields(string(text))
	return strings.Join(fields[:min(3, len(fields))], " ")
}

// version is the first line that a program prints about itself.
func version(program string, args ...string) string {
	out, err := exec.Command(program, args...).CombinedOutput() //nolint:noctx // it ends immediately
	if err != nil {
		return program + " absent"
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line
}

func proxies() string {
	caddy, _, _ := strings.Cut(version("caddy", "version"), " h1:")
	return fmt.Sprintf("caddy %s; %s", caddy, version("nginx", "-v"))
}
