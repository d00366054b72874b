package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/test/simulate/overlay"
)

type options struct {
	dir      string // of what is built
	first    uint64
	seeds    int
	duration time.Duration
	steps    int
	hang     time.Duration // after which a seed has hung
	jobs     int
	stop     int
	seed     int64 // to replay; -1 for none
	keep     string
	shrink   bool
	hashes   bool
	replace  map[string]string // more files of the overlay
}

func main() {
	var o options
	flag.StringVar(&o.dir, "dir", "bin/simulate", "directory of what is built")
	flag.Uint64Var(&o.first, "first", 1, "first seed")
	flag.IntVar(&o.seeds, "seeds", 1000, "number of seeds")
	flag.DurationVar(&o.duration, "time", time.Hour, "maximum duration; no seed begins after it")
	flag.DurationVar(&o.hang, "hang", 2*time.Minute, "real time after which a seed that has not ended is reported, and its process killed")
	flag.IntVar(&o.steps, "steps", 400, "number of decisions of a seed")
	flag.IntVar(&o.jobs, "jobs", runtime.NumCPU(), "number of processes")
	flag.IntVar(&o.stop, "stop", 3, "number of violations after which a process ends")
	flag.Int64Var(&o.seed, "seed", -1, "replay this seed alone and print its trace")
	flag.StringVar(&o.keep, "keep", "", "with -seed: the decisions to replay, such as 0-12,40")
	flag.BoolVar(&o.shrink, "shrink", false, "with -seed: find the fewest decisions with the same violation")
	flag.BoolVar(&o.hashes, "hashes", false, "print the hash of each trace")
	o.replace = map[string]string{}
	flag.Func("replace", "FILE=OTHER: build with another file in place of one of this module", func(text string) error {
		file, other, ok := strings.Cut(text, "=")
		if !ok {
			return errors.New("want FILE=OTHER")
		}
		o.replace[file] = other
		return nil
	})
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := o.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "simulate:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to do
	}
}

func (o options) run(ctx context.Context) error {
	binary, err := o.build(ctx)
	if err != nil {
		return err
	}
	if o.seed < 0 {
		return o.runSeeds(ctx, binary)
	}
	test := "^TestReplay$"
	if o.shrink {
		test = "^TestShrink$"
	}
	c := exec.CommandContext(ctx, binary, "-test.run", test, "-test.timeout", "1h", fmt.Sprintf("-simulate.seed=%d", o.seed),
		fmt.Sprintf("-simulate.steps=%d", o.steps), "-simulate.keep="+o.keep)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	return c.Run()
}

// build builds the simulator with the overlay of the installed version of Go.
func (o options) build(ctx context.Context) (binary string, err error) {
	path, err := overlay.Write(ctx, filepath.Join(o.dir, "_overlay"), o.replace)
	if err != nil {
		return "", err
	}
	if binary, err = filepath.Abs(filepath.Join(o.dir, "simulate.test")); err != nil {
		return "", err
	}
	c := exec.CommandContext(ctx, "go", "test", "-overlay", path, "-tags", "simulate", "-trimpath", "-vet=off", "-c", "-o", binary, "./internal/test/simulate")
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("build the simulator: %w", err)
	}
	return binary, nil
}
