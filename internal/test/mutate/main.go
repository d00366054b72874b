package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
)

func main() {
	r := runner{}
	flag.StringVar(&r.dir, "dir", "bin/mutate", "directory of what is built")
	flag.DurationVar(&r.limit, "time", 40*time.Second, "duration of the simulator for each fault")
	flag.IntVar(&r.jobs, "jobs", 1, "number of the simulator's processes")
	flag.StringVar(&r.only, "only", "", "the faults with this text in their names (empty: all)")
	by := flag.String("by", "", "the faults that this finds: simulator or test (empty: both)")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := r.run(ctx, *by); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to do
	}
}
