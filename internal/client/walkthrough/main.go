package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// limit is the time limit of a whole run.
const limit = 10 * time.Minute

func main() {
	again := flag.Bool("again", false, "write every chapter, also those that say nothing new")
	bin := flag.String("bin", "bin", "directory of the built programs")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := run(ctx, *bin, *again); err != nil {
		fmt.Fprintln(os.Stderr, "walkthrough:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, bin string, again bool) error {
	w, err := newWorld(bin)
	if err != nil {
		return err
	}
	defer w.close()
	for _, part := range []func(context.Context, *world) ([]chapter, error){developer, pipeline} {
		chapters, err := part(ctx, w)
		if err != nil {
			return err
		}
		for _, c := range chapters {
			if err := c.publish(again); err != nil {
				return err
			}
		}
	}
	return nil
}
