package obs_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/obs"
	"github.com/svcctl/svcctl/internal/svc"
)

func recentOf(t *testing.T, secrets map[string]string) (*obs.Recent, *slog.Logger, *strings.Builder) {
	t.Helper()
	var out strings.Builder
	r := obs.NewRecent(secrets)
	t.Cleanup(r.Stop)
	return r, r.Logger(obs.NewLogger(&out, obs.LogOptions{})), &out
}

func readRecent(t *testing.T, r *obs.Recent, q svc.LogQuery) (string, string) {
	t.Helper()
	page, err := r.Read(t.Context(), svc.Ref{}, q)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, e := range page.Entries {
		if e.Cursor == "" || e.Time.IsZero() || e.Source == "" {
			t.Errorf("incomplete: %+v", e)
		}
		lines = append(lines, e.Level+" "+e.Message)
	}
	return strings.Join(lines, "\n"), page.Cursor
}

// TestRecent: the lines that the logger writes, with their attributes and without secrets, by level, text, time and
// position. The log itself is written as before.
func TestRecent(t *testing.T) {
	t.Parallel()
	r, log, out := recentOf(t, map[string]string{"SVC_ADMIN_TOKEN": "hunter2-hunter2"})
	log.Debug("not written")
	log.With("node", "n1").WithGroup("s3").Warn("request failed; retrying", "token", svc.Secret("abcdefgh"), "header", "hunter2-hunter2")
	log.Error("a worker says \x1b[2J", "url", "https://user:password@example.com/", "error", "Bearer abc123def456")
	log.Info("long", "text", strings.Repeat("x", 5000)+"hunter2-hunter2")
	all, cursor := readRecent(t, r, svc.LogQuery{Tail: 10})
	lines := strings.Split(all, "\n")
	if len(lines) != 3 || lines[0] != "warn request failed; retrying node=n1 s3.token=[redacted] s3.header=***SVC_ADMIN_TOKEN***" ||
		lines[1] != "error a worker says \uFFFD[2J url=https://***@example.com/ error=\"Bearer ***\"" || len(lines[2]) > 4200 || !strings.HasSuffix(lines[2], "…") {
		t.Errorf("got %s", all)
	}
	if !strings.Contains(out.String(), "request failed") || strings.Contains(out.String(), "not written") {
		t.Errorf("written: %s", out.String())
	}
	if got, _ := readRecent(t, r, svc.LogQuery{Tail: 10, Level: "error"}); got != lines[1] {
		t.Errorf("level: %s", got)
	}
	if got, _ := readRecent(t, r, svc.LogQuery{Tail: 10, Search: "RETRYING"}); got != lines[0] {
		t.Errorf("search: %s", got)
	}
	if got, _ := readRecent(t, r, svc.LogQuery{Tail: 1}); got != lines[2] {
		t.Errorf("tail: %.30s", got)
	}
	if got, _ := readRecent(t, r, svc.LogQuery{Tail: 10, Since: time.Now().Add(time.Hour)}); got != "" {
		t.Errorf("since: %s", got)
	}
	log.Info("later")
	if got, _ := readRecent(t, r, svc.LogQuery{Tail: 10, Cursor: cursor}); got != "info later" {
		t.Errorf("after the cursor: %s", got)
	}
	r.Hide(map[string]string{"S3_SECRET_KEY": "swordfish-swordfish"})
	log.Info("key swordfish-swordfish")
	if got, _ := readRecent(t, r, svc.LogQuery{Tail: 1}); got != "info key ***S3_SECRET_KEY***" {
		t.Errorf("hidden later: %s", got)
	}
	for _, q := range []svc.LogQuery{{Level: "loud"}, {Cursor: "x"}, {Cursor: "x.y"}} {
		if _, err := r.Read(t.Context(), svc.Ref{}, q); svc.CodeOf(err) != svc.CodeInvalidParameter && svc.CodeOf(err) != svc.CodeInvalidCursor {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

// TestRecentIsBounded: the oldest lines go, a reader learns how many it missed, and a cursor
// of another process begins with the oldest line.
func TestRecentIsBounded(t *testing.T) {
	t.Parallel()
	r, log, _ := recentOf(t, nil)
	log.Info("0")
	_, cursor := readRecent(t, r, svc.LogQuery{Tail: 10})
	for i := range 1200 {
		log.Info("line", "n", i+1)
	}
	all, _ := readRecent(t, r, svc.LogQuery{Tail: 2000})
	if lines := strings.Split(all, "\n"); len(lines) != 1000 || lines[0] != "info line n=201" || lines[999] != "info line n=1200" {
		t.Errorf("%d lines, %s to %s", len(lines), lines[0], lines[len(lines)-1])
	}
	got, next := readRecent(t, r, svc.LogQuery{Tail: 3, Cursor: cursor})
	if got != "warn 200 entries are no longer kept\ninfo line n=201\ninfo line n=202" {
		t.Errorf("got %s", got)
	}
	if got, _ = readRecent(t, r, svc.LogQuery{Tail: 1, Cursor: next}); got != "info line n=203" {
		t.Errorf("the next page: %s", got)
	}
	if got, _ = readRecent(t, r, svc.LogQuery{Tail: 2, Cursor: "fedcba.7"}); got != "warn 201 entries are no longer kept\ninfo line n=201" {
		t.Errorf("a cursor of another process: %s", got)
	}
}

// TestRecentFollow: each line once, in order; idle is called meanwhile; Stop ends it.
func TestRecentFollow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, log, _ := recentOf(t, nil)
		log.Info("before")
		var got []string
		idle, ended := 0, make(chan error, 1)
		go func() {
			ended <- r.Follow(context.Background(), nil, svc.LogQuery{Tail: 5}, func(e svc.LogEntry) error {
				got = append(got, e.Message)
				return nil
			}, func() error { idle++; return nil })
		}()
		synctest.Wait()
		log.Info("one")
		log.Info("two")
		synctest.Wait()
		log.Info("three")
		time.Sleep(time.Minute)
		synctest.Wait()
		if text := strings.Join(got, " "); text != "before one two three" || idle < 12 {
			t.Errorf("got %s, idle %d times", text, idle)
		}
		r.Stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
