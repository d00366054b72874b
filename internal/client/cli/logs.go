package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

type logsOptions struct {
	project string
	follow  bool
	query   client.LogQuery
}

func (o *logsOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	projectFlag(cmd, &o.project)
	f.BoolVarP(&o.follow, "follow", "f", false, "continue with each new entry")
	f.IntVarP(&o.query.Tail, "tail", "n", 100, "maximum number of entries to begin with (at most 1000)")
	f.StringVar(&o.query.Since, "since", "", "only entries since this time (RFC 3339) or of this duration (10m)")
	f.StringVar(&o.query.Level, "level", "", "only entries of this level or above: debug, info, warn or error")
	f.StringVar(&o.query.Status, "status", "", "only requests with this status (404) or class (5xx)")
	f.StringVar(&o.query.Path, "path", "", "only requests whose path matches; * stands for any text")
	f.StringVar(&o.query.Request, "request", "", "only the request with this id, or its first four or more characters")
	f.StringVar(&o.query.Search, "search", "", "only entries with this text")
	f.StringVar(&o.query.Cursor, "cursor", "", "continue after this position (from -o json or jsonl)")
}

func newLogs(k *kit.Kit) *cobra.Command {
	var o logsOptions
	cmd := &cobra.Command{
		Use: "logs [[PROJECT/]VERSION]", Aliases: []string{"tail"}, Short: "Show the requests, console lines and exceptions of a version",
		Args: cobra.MaximumNArgs(1),
		Long: "Shows each request and event of a version with what the worker printed and threw meanwhile. Without VERSION it shows the " +
			"production of the project; with -f it then follows each promote. -o jsonl prints one JSON document per entry, and with " +
			"-f so does -o json. When the connection is lost, -f connects again and continues where it was.",
		Example:     "  svcctl logs -f --status 5xx\n  svcctl logs shop/v7 --request 79dd2d5a\n  svcctl logs --since 10m --level error -o jsonl",
		Annotations: map[string]string{kit.OutputFormats: "jsonl"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{""}
			}
			return runLogs(cmd.Context(), k, o, args[0])
		},
	}
	o.flags(cmd)
	return cmd
}

func runLogs(ctx context.Context, k *kit.Kit, o logsOptions, arg string) error {
	if o.query.Tail < 1 {
		return kit.Usagef("--tail must be at least 1")
	}
	c, project, version, err := versionAt(k, arg, o.project)
	if err != nil {
		return err
	}
	if o.follow {
		p := &logPrinter{k: k, c: c, project: project, version: version, query: o.query}
		return p.followAll(ctx)
	}
	page, err := c.ReadLogs(ctx, project, version, o.query)
	if err != nil {
		return err
	}
	if k.JSONLines() {
		for _, l := range page.Items {
			if err := k.JSONLine(l); err != nil {
				return err
			}
		}
		return nil
	}
	return k.Print(page, func() { printLogs(k, page.Items) })
}

const (
	// holdLines is how long a line waits for the request that it belongs to.
	holdLines = 100 * time.Millisecond
	// reconnect is the pause before a lost connection is made again.
	reconnect = time.Second
)

// followAll prints entries until ctx ends. A connection that is lost after it was made is
// made again.
func (p *logPrinter) followAll(ctx context.Context) error {
	for {
		err := p.follow(ctx)
		var refused *client.Error
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // Ctrl-C is how a person ends it
		case !p.connected || errors.As(err, &refused) || err != nil && !errors.Is(err, client.ErrUnreachable):
			return err
		}
		p.k.Notef("connection lost; connecting again")
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(reconnect):
		}
	}
}

// logPrinter prints entries as they come. The lines of a request wait a moment for it, so
// that they can stand below it.
type logPrinter struct {
	k                *kit.Kit
	c                *client.Client
	project, version string
	query            client.LogQuery // its cursor moves with the entries
	connected        bool            // an entry has come
	held             []heldLine
}

type heldLine struct {
	api.LogLine
	until time.Time
}

// follow prints the entries of one connection, and keeps the position in the query.
func (p *logPrinter) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	entries, ended := make(chan api.LogLine), make(chan error, 1)
	query := p.query
	go func() {
		var failed error
		for l, err := range p.c.FollowLogs(ctx, p.project, p.version, query) {
			if failed = err; err != nil {
				break
			}
			select {
			case entries <- l:
			case <-ctx.Done():
			}
		}
		ended <- failed
	}()
	tick := time.NewTicker(holdLines / 2)
	defer tick.Stop()
	for {
		select {
		case l := <-entries:
			if p.connected = true; l.Cursor != "" {
				p.query.Cursor = l.Cursor
			}
			if err := p.add(l); err != nil {
				return err
			}
		case now := <-tick.C:
			p.release(func(l heldLine) bool { return now.After(l.until) })
		case err := <-ended:
			p.release(func(heldLine) bool { return true })
			return err
		}
	}
}

func (p *logPrinter) add(l api.LogLine) error {
	switch {
	case p.k.JSON() || p.k.JSONLines():
		return p.k.JSONLine(l)
	case l.Invocation != nil:
		printInvocation(p.k, l)
		p.take(func(h heldLine) bool { return h.RequestID == l.RequestID }, func(h api.LogLine) { printLogLine(p.k, h, true) })
	case l.RequestID == "":
		printLogLine(p.k, l, false)
	default:
		p.held = append(p.held, heldLine{l, time.Now().Add(holdLines)})
	}
	return nil
}

// release prints held lines without their request.
func (p *logPrinter) release(chosen func(heldLine) bool) {
	p.take(chosen, func(l api.LogLine) { printLogLine(p.k, l, false) })
}

func (p *logPrinter) take(chosen func(heldLine) bool, use func(api.LogLine)) {
	kept := p.held[:0]
	for _, h := range p.held {
		if chosen(h) {
			use(h.LogLine)
		} else {
			kept = append(kept, h)
		}
	}
	p.held = kept
}
