package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

// options are those of the command line.
type options struct {
	root   string
	npm    string
	wanted pins // "" for the newest
	gate   string
	report string
	commit bool
	out    io.Writer
}

func main() {
	o := options{out: os.Stdout}
	flag.StringVar(&o.root, "root", ".", "directory of the repository")
	flag.StringVar(&o.npm, "npm", "npm", "npm")
	flag.StringVar(&o.wanted.Workerd, "workerd", "", "version of workerd (default: the newest)")
	flag.StringVar(&o.wanted.Wrangler, "wrangler", "", "version of wrangler (default: the newest)")
	flag.StringVar(&o.wanted.VitePlugin, "vite-plugin", "", "version of @cloudflare/vite-plugin (default: the newest)")
	flag.StringVar(&o.wanted.Types, "types", "", "version of @cloudflare/workers-types (default: the newest)")
	flag.StringVar(&o.gate, "gate", "unit,types,differential,frameworks", "what must be green, separated by commas; none for nothing")
	flag.StringVar(&o.report, "report", "build/follow.md", "file of the report")
	flag.BoolVar(&o.commit, "commit", false, "make one commit of the moved pins if the gate is green")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	green, err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "follow:", err)
		os.Exit(2)
	}
	if !green {
		os.Exit(1)
	}
}

// run moves the pins, and reports whether the gate is green.
func run(ctx context.Context, o options) (green bool, err error) {
	t := tree{o.root}
	before, err := t.read()
	if err != nil {
		return false, err
	}
	r := registry{npm: o.npm}
	after, err := r.newest(ctx, o.wanted)
	if err != nil {
		return false, err
	}
	if before.equal(after) {
		fmt.Fprintf(o.out, "nothing to follow: workerd %s, wrangler %s and Vite's plugin %s are pinned\n", before.Workerd, before.Wrangler, before.VitePlugin)
		return true, nil
	}
	temp, err := os.MkdirTemp("", "follow-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(temp)
	rep := report{Before: before, After: after}
	if before.Workerd != after.Workerd {
		if err := move(ctx, o, temp, &rep); err != nil {
			return false, err
		}
	}
	if err := t.write(before, after); err != nil {
		return false, err
	}
	if rep.Wrangler, err = r.compareWrangler(ctx, temp, before.Wrangler, after.Wrangler); err != nil {
		return false, err
	}
	green = true
	for name := range strings.SplitSeq(o.gate, ",") {
		if name == "none" || name == "" {
			continue
		}
		fmt.Fprintf(o.out, "gate: %s\n", name)
		result := gate(ctx, o.root, name, after)
		rep.Gate = append(rep.Gate, result)
		green = green && result.Err == nil
	}
	if err := write(filepath.Join(o.root, o.report), rep.text()); err != nil {
		return false, err
	}
	fmt.Fprint(o.out, rep.text())
	if green && o.commit {
		return green, commit(ctx, o.root, rep)
	}
	return green, nil
}

// move pins another workerd: its packages, its version and date, and its flags.
func move(ctx context.Context, o options, temp string, rep *report) error {
	t, r := tree{o.root}, registry{npm: o.npm}
	release, err := r.release(ctx, temp, rep.After.Workerd)
	if err != nil {
		return err
	}
	flags, err := flagsOf(release.program)
	if err != nil {
		return err
	}
	if rep.Flags, err = t.writeFlags(flags); err != nil {
		return err
	}
	if release.line, release.date, err = ask(ctx, release.path, temp); err != nil {
		return err
	}
	rep.Date = release.date
	fmt.Fprintf(o.out, "workerd %s: %q, compatibility dates up to %s, %d flags\n", rep.After.Workerd, release.line, release.date, len(flags))
	return t.writeWorkerd(rep.After.Workerd, release)
}
