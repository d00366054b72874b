package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	partRounds  = "15x" // of forks and first queries
	writeRounds = "25x"
	asyncGoal   = 70.0 // % of bare SQLite's rate
)

// parts: the benchmarks of package dataplane, in the process that has the data
// and one that opens it, without the daemon.
func parts(ctx context.Context, b *bench) ([]row, error) {
	// The writes first: what the large parents leave the disk to do makes it slow.
	writes, err := b.goBench(ctx, "Write", writeRounds)
	if err != nil {
		return nil, err
	}
	opens, err := b.goBench(ctx, "Branch", partRounds)
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, r := range opens {
		rows = append(rows, r.ofSizes())
	}
	for _, r := range writes {
		rows = append(rows, r.ofWrites("async", "FULL"), r.ofWrites("async", "NORMAL"), r.ofWrites("sync", "FULL"))
	}
	return rows, nil
}

// measured is a benchmark's metrics by unit.
type measured struct {
	name    string
	metrics map[string]float64
}

// goBench runs benchmarks of package dataplane.
func (b *bench) goBench(ctx context.Context, pattern, rounds string) ([]measured, error) {
	args := []string{"test", "-run", "^$", "-bench", pattern, "-benchtime", rounds, "-timeout", "1h", "./internal/data/dataplane"}
	if b.large >= 1024 {
		args = append(args, "-full")
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Stderr = filepath.Dir(b.program.Root), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %v: %w: %s", args, err, out)
	}
	var all []measured
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		if m, ok := parseBench(s.Text()); ok {
			all = append(all, m)
		}
	}
	return all, nil
}

// parseBench reads "BenchmarkBranch/fork/live/1ms-2  15  1.08 1GB/1MB  3.2 ms/1GB …".
func parseBench(line string) (measured, bool) {
	fields := strings.Fields(line)
	if len(fields) < 4 || !strings.HasPrefix(line, "Benchmark") {
		return measured{}, false
	}
	_, name, _ := strings.Cut(fields[0], "/")
	if at := strings.LastIndexByte(name, '-'); at >= 0 { // the number of processors
		name = name[:at]
	}
	m := measured{name, map[string]float64{}}
	for i := 2; i+1 < len(fields); i += 2 {
		value, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return measured{}, false
		}
		m.metrics[fields[i+1]] = value
	}
	return m, true
}

// ofSizes is the row of a fork, a first query or a wake: of the largest parent,
// beside the smaller ones.
func (m measured) ofSizes() row {
	sizes := []string{"1MB", "100MB", "1GB"}
	if _, ok := m.metrics["ms/1GB"]; !ok {
		sizes = sizes[:2]
	}
	largest, beside := sizes[len(sizes)-1], []string{}
	for _, size := range sizes[:len(sizes)-1] {
		beside = append(beside, fmt.Sprintf("%s %.1f ms", size, m.metrics["ms/"+size]))
	}
	ms, times := m.metrics["ms/"+largest], m.metrics[largest+"/1MB"]
	at := strings.LastIndexByte(m.name, '/')
	latency, _ := time.ParseDuration(m.name[at+1:]) // 0 says enough of one that is none
	r := row{
		what:   strings.ReplaceAll(m.name[:at], "/", ", ") + slower(latency),
		ours:   fmt.Sprintf("%s %.1f ms, %.0f requests, %.1f KB written", largest, ms, m.metrics["requests/"+largest], m.metrics["put-B/"+largest]/1000),
		beside: fmt.Sprintf("%s, a PUT %.1f ms", strings.Join(beside, ", "), m.metrics["ms/put"]),
		ratio:  fmt.Sprintf("%.2fx 1MB", times),
	}
	what, _, _ := strings.Cut(m.name, "/")
	switch near := latency == time.Millisecond; {
	case near && what == "fork":
		r = r.atMost(ms, forkGoal, fmt.Sprintf(" ms and %gx", flatGoal))
		r.met = r.met && times <= flatGoal
	case near && what == "first-query":
		r = r.atMost(ms, firstGoal, " ms")
	}
	return r
}

// ofWrites is the row of one durability, beside bare SQLite with one setting.
func (m measured) ofWrites(durability, synchronous string) row {
	share := 100 * m.metrics[durability+"/"+synchronous]
	r := row{
		what:   fmt.Sprintf("writes, %s, writers: %s", durability, m.name),
		ours:   fmt.Sprintf("%.0f/s", m.metrics[durability+"-tx/s"]),
		beside: fmt.Sprintf("bare SQLite, synchronous=%s %.0f/s", synchronous, m.metrics[synchronous+"-tx/s"]), ratio: fmt.Sprintf("%.0f %%", share),
	}
	if durability == "async" && synchronous == "FULL" { // which promises the same
		r = r.atLeast(share, asyncGoal, " %")
	}
	return r
}
