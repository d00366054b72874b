package kit_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
)

func TestConfirm(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		tty   bool
		typed string
		exit  int
		says  string
	}{
		"typed":                {true, "v1\n", kit.ExitOK, "type v1 to continue"},
		"typed, without enter": {true, " v1", kit.ExitOK, "type v1"},
		"another word":         {true, "yes\n", kit.ExitUsage, "nothing was changed"},
		"nothing":              {true, "", kit.ExitUsage, "nothing was changed"},
		"no terminal":          {false, "v1\n", kit.ExitUsage, "--yes"},
	} {
		k, _, errs := newKit(t)
		k.In, k.InTTY, k.ErrTTY = strings.NewReader(tc.typed), tc.tty, true
		err := k.Confirm(t.Context(), "this destroys it", "v1", "--yes")
		said := errs.String()
		if err != nil {
			said += err.Error()
		}
		if got := kit.ExitCode(err); got != tc.exit || !strings.Contains(said, tc.says) {
			t.Errorf("%s: exit %d with %q", name, got, said)
		}
	}
}

// TestChoose: the answer is one of the words.
func TestChoose(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{"keep\n": "keep", " restore ": "restore", "k\n": "", "": ""} {
		k, _, errs := newKit(t)
		k.In, k.InTTY, k.ErrTTY = strings.NewReader(typed), true, true
		got, err := k.Choose(t.Context(), "which data?", []string{"keep", "restore"}, "--keep-data or --restore-data")
		if got != want || (err == nil) != (want != "") || errs.String() != "which data?\ntype keep or restore: " {
			t.Errorf("%q: %q, %v, %q", typed, got, err, errs.String())
		}
	}
	k, _, _ := newKit(t)
	k.Environ = append(k.Environ, "CI=1")
	k.In, k.InTTY, k.ErrTTY = strings.NewReader("keep\n"), true, true
	if _, err := k.Choose(t.Context(), "which data?", []string{"keep"}, "--keep-data"); kit.ExitCode(err) != kit.ExitUsage || !strings.Contains(err.Error(), "use --keep-data where the variable CI is set") {
		t.Errorf("in CI: %v", err)
	}
	k, _, _ = newKit(t)
	if _, err := k.Choose(t.Context(), "which data?", []string{"keep"}, "--keep-data"); kit.ExitCode(err) != kit.ExitUsage || !strings.Contains(err.Error(), "which data: use --keep-data when there is no terminal") {
		t.Errorf("no terminal: %v", err)
	}
}

// TestConfirmInCI: a job of CI may have a terminal without a person.
func TestConfirmInCI(t *testing.T) {
	t.Parallel()
	for value, exit := range map[string]int{"true": kit.ExitUsage, "1": kit.ExitUsage, "false": kit.ExitOK, "": kit.ExitOK} {
		k, _, errs := newKit(t)
		k.Environ = append(k.Environ, "CI="+value)
		k.In, k.InTTY, k.ErrTTY = strings.NewReader("v1\n"), true, true
		err := k.Confirm(t.Context(), "this destroys it", "v1", "--yes")
		if kit.ExitCode(err) != exit || exit != kit.ExitOK && (errs.String() != "" || !strings.Contains(err.Error(), "use --yes where the variable CI is set")) {
			t.Errorf("CI=%s: %v, asked %q", value, err, errs.String())
		}
	}
}

// TestConfirmInterrupted: Ctrl-C ends a prompt without an answer.
func TestConfirmInterrupted(t *testing.T) {
	t.Parallel()
	k, _, _ := newKit(t)
	silent, end := io.Pipe()
	defer end.Close()
	k.In, k.InTTY, k.ErrTTY = silent, true, true
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := k.Confirm(ctx, "this destroys it", "v1", "--yes")
	if !errors.Is(err, context.Canceled) || kit.ExitCode(err) != kit.ExitInterrupted || err.Error() != "interrupted; nothing was changed" {
		t.Errorf("got %v", err)
	}
}
