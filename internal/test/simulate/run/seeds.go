package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// figures are counts of all processes together.
type figures struct {
	mu    sync.Mutex
	total map[string]int
}

// runSeeds runs the seeds in several processes, and prints their violations and figures.
func (o options) runSeeds(ctx context.Context, binary string) error {
	f, began := figures{total: map[string]int{}}, time.Now()
	errs := make([]error, o.jobs)
	var all sync.WaitGroup
	for i := range o.jobs {
		all.Go(func() { errs[i] = o.runProcess(ctx, binary, i, &f) })
	}
	all.Wait()
	f.print(time.Since(began))
	return errors.Join(errs...)
}

// runProcess runs the seeds of one process: each jobs-th of all.
func (o options) runProcess(ctx context.Context, binary string, i int, f *figures) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the process when its output cannot be read
	share := (o.seeds + o.jobs - 1 - i) / o.jobs
	c := exec.CommandContext(ctx, binary, "-test.run", "^TestSeeds$", "-test.timeout", "24h",
		fmt.Sprintf("-simulate.first=%d", o.first+uint64(i)), fmt.Sprintf("-simulate.stride=%d", o.jobs), //nolint:gosec // the number of a process is small
		fmt.Sprintf("-simulate.seeds=%d", share), fmt.Sprintf("-simulate.time=%s", o.duration), fmt.Sprintf("-simulate.steps=%d", o.steps),
		fmt.Sprintf("-simulate.stop=%d", o.stop), fmt.Sprintf("-simulate.hashes=%v", o.hashes))
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return err
	}
	p := process{options: o, figures: f}
	p.hung = time.AfterFunc(o.hang, cancel)
	for lines := bufio.NewScanner(out); lines.Scan() && err == nil; {
		err = p.line(lines.Text())
	}
	if err != nil {
		return err
	}
	if !p.hung.Stop() {
		return fmt.Errorf("process %d: the seed did not end within %s\n  replay it: %s", i+1, o.hang, o.again(p.seed))
	}
	if err := c.Wait(); err != nil {
		return fmt.Errorf("process %d: %w", i+1, err)
	}
	return nil
}

// process is what is known of one process from its output.
type process struct {
	options

	figures *figures
	seed    string      // that it runs
	hung    *time.Timer // ends the process
}

func (p *process) line(text string) error {
	seed, begins := strings.CutPrefix(text, "begins ")
	if !begins {
		return p.print(text, p.figures)
	}
	p.seed = seed
	p.hung.Reset(p.hang)
	return nil
}

// again is the command that replays a seed.
func (o options) again(seed string) string {
	if o.steps != 400 {
		seed += fmt.Sprintf(" STEPS=%d", o.steps)
	}
	return "make simulate SEED=" + seed
}

// print prints what a person needs of the output of a process.
func (o options) print(text string, f *figures) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if data, ok := strings.CutPrefix(text, "figures "); ok {
		counts := map[string]int{}
		if err := json.Unmarshal([]byte(data), &counts); err != nil {
			return fmt.Errorf("read figures of a process: %w", err)
		}
		for name, n := range counts {
			f.total[name] += n
		}
		return nil
	}
	if rest, ok := strings.CutPrefix(text, "violation "); ok {
		seed, _, _ := strings.Cut(strings.TrimPrefix(rest, "seed "), ":")
		fmt.Printf("%s\n  replay it: %s\n", rest, o.again(seed))
		return nil
	}
	if text != "PASS" && text != "FAIL" && !strings.HasPrefix(text, "--- FAIL") {
		fmt.Println(text)
	}
	return nil
}

func (f *figures) print(took time.Duration) {
	seeds := f.total["seeds"]
	fmt.Printf("%d seeds in %s, %.1f seeds/s, %d with a violation\n",
		seeds, took.Round(time.Second), float64(seeds)/took.Seconds(), f.total["seeds with a violation"])
	for _, name := range slices.Sorted(maps.Keys(f.total)) {
		if !strings.HasPrefix(name, "seeds") {
			fmt.Printf("  %-40s %d\n", name, f.total[name])
		}
	}
}
