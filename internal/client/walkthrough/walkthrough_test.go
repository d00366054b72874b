package main

import (
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

// TestScreen: what a terminal shows of the sequences that the program prints.
func TestScreen(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain\r\nnext":                        "plain\nnext\n",
		"packing ...\r\x1b[Kpacking (1ms)\r\n": "packing (1ms)\n",
		"12\b \b3":                             "13\n",
		"longer than the screen":               "longer than the\nscreen\n",
		"\x1b[1;32mé\x1b[0m":                   "é\n",
		"gone\x1b[2J\x1b[Hhere":                "here\n",
		"one\ntwo\x1b[1A!":                     "one!\ntwo\n",
	} {
		whole, pieces := &screen{width: 16}, &screen{width: 16}
		whole.print([]byte(in))
		for i := range len(in) {
			pieces.print([]byte{in[i]})
		}
		if whole.String() != want || pieces.String() != want {
			t.Errorf("%q shows %q, in pieces %q, want %q", in, whole, pieces, want)
		}
	}
}

func TestSVG(t *testing.T) {
	t.Parallel()
	s := &screen{width: 20}
	s.print([]byte("\x1b[32m$\x1b[0m \x1b[1ma<b\x1b[0m"))
	got := string(s.svg("x & y"))
	for _, want := range []string{
		`<title>x &amp; y</title>`, `<tspan x="16" textLength="8" class="c32">$</tspan>`, `<tspan x="32" textLength="24" class="b">a&lt;b</tspan>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in\n%s", want, got)
		}
	}
}

// TestMasked: two runs of the same program say the same.
func TestMasked(t *testing.T) {
	t.Parallel()
	a := masked("07:16:10  save 2  ready 9ms\nop-4vdaplaxep36ftv  v3   1m2s  1.4 KiB\nat 8bbd6a1c2f  23 Nov 07:16:10")
	b := masked("08:00:00  save 2  ready 1.25s\nop-rxgs4hjxetikuvm  v3  9s  999 B\nat 0f2ac74b4  1 Dec 08:00:00")
	if a != b {
		t.Errorf("%q, %q", a, b)
	}
	if masked("save 2") == masked("save 3") || masked("GET / 200") == masked("GET / 500") {
		t.Error("too much is masked")
	}
}

func TestPlace(t *testing.T) {
	t.Parallel()
	c := chapter{name: "dev", screen: &screen{}}
	const guide = "# Guide\n<!-- walkthrough: dev -->\nold\n<!-- end -->\nrest\n"
	from, to, err := c.place(guide)
	if err != nil || guide[from:to] != "old\n" {
		t.Errorf("%q %v", guide[from:to], err)
	}
	for _, guide := range []string{"# Guide\n", "<!-- walkthrough: dev -->\n"} {
		if _, _, err := c.place(guide); err == nil {
			t.Errorf("%q is accepted", guide)
		}
	}
}
