package keyring_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/lib/keyring"
)

const text = "sk_live_marker_51H8x"

func line(t *testing.T, id string) string {
	t.Helper()
	l, err := keyring.NewLine(id)
	if err != nil {
		t.Fatal(err)
	}
	return l + "\n"
}

func ring(t *testing.T, lines ...string) *keyring.Ring {
	t.Helper()
	r, err := keyring.Parse(strings.Join(lines, ""))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func seal(t *testing.T, r *keyring.Ring) []byte {
	t.Helper()
	sealed, err := r.Seal("shop", "KEY", text)
	if err != nil || bytes.Contains(sealed, []byte(text)) {
		t.Fatalf("%x, %v", sealed, err)
	}
	return sealed
}

// TestRotation: a new first line seals, and the line before it opens what it sealed until it is removed.
func TestRotation(t *testing.T) {
	t.Parallel()
	older, newer := line(t, "2026-11"), line(t, "2027-02")
	sealed := seal(t, ring(t, older))
	both := ring(t, "# of the operator\n\n", newer, older)
	if got, err := both.Open("2026-11", "shop", "KEY", sealed); got != text || err != nil || both.Current() != "2027-02" {
		t.Errorf("%q, %v, current %s", got, err, both.Current())
	}
	alone := ring(t, newer)
	if got, err := alone.Open("2027-02", "shop", "KEY", seal(t, both)); got != text || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := alone.Open("2026-11", "shop", "KEY", sealed); got != "" || !errors.Is(err, keyring.ErrNoKey) || alone.Has("2026-11") || !both.Has("2026-11") {
		t.Errorf("%q, %v", got, err)
	}
}

// TestPlace: what was sealed for one place opens at no other, and not with a changed byte.
func TestPlace(t *testing.T) {
	t.Parallel()
	r := ring(t, line(t, "a"))
	sealed := seal(t, r)
	for _, at := range [][2]string{{"bank", "KEY"}, {"shop", "OTHER"}} {
		if got, err := r.Open("a", at[0], at[1], sealed); got != "" || !errors.Is(err, keyring.ErrTorn) {
			t.Errorf("%v: %q, %v", at, got, err)
		}
	}
	for i := range sealed {
		torn := bytes.Clone(sealed)
		torn[i] ^= 1
		if got, err := r.Open("a", "shop", "KEY", torn); got != "" || !errors.Is(err, keyring.ErrTorn) {
			t.Errorf("changed at %d: %q, %v", i, got, err)
		}
	}
	if _, err := r.Open("a", "shop", "KEY", nil); !errors.Is(err, keyring.ErrTorn) {
		t.Errorf("no bytes: %v", err)
	}
}

// TestParseErrors: an error names the line and repeats no part of a key, nor does a printed ring.
func TestParseErrors(t *testing.T) {
	t.Parallel()
	good := line(t, "a")
	for name, bad := range map[string]string{
		"empty": "", "comment": "# a\n", "short": "a:aGVsbG8=", "twice": good + good, "no id": good[1:], "upper": "A" + good[1:], "no base64": "a:" + strings.Repeat("!", 44),
	} {
		_, err := keyring.Parse(bad)
		if err == nil || strings.Contains(err.Error(), "aGVsbG8") || strings.Contains(err.Error(), strings.TrimSpace(good[2:])) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := keyring.NewLine("Not an id"); err == nil {
		t.Error("a bad id makes a line")
	}
	r := ring(t, good)
	if shown := fmt.Sprintf("%v %+v %#v %s", r, r, r, r); strings.Contains(shown, r.Keys()["a"]) || r.Keys()["a"] == "" {
		t.Errorf("printed as %s", shown)
	}
}
