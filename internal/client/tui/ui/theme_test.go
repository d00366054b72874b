package ui_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"github.com/svcctl/svcctl/internal/client/tui/ui"
)

// draw writes a word in each style of a theme.
func draw(dark bool, profile termenv.Profile) []string {
	r := lipgloss.NewRenderer(new(bytes.Buffer))
	r.SetColorProfile(profile)
	r.SetHasDarkBackground(dark)
	t := ui.NewTheme(r)
	list := make([]string, 0, 9)
	for _, s := range []lipgloss.Style{t.Dim, t.Accent, t.Good, t.Warn, t.Bad, t.Head} {
		list = append(list, s.Render("word"))
	}
	return list
}

// TestThemes: light and dark backgrounds get other colors and the same words, and NO_COLOR none.
func TestThemes(t *testing.T) {
	t.Parallel()
	light, dark, none := draw(false, termenv.TrueColor), draw(true, termenv.TrueColor), draw(true, termenv.Ascii)
	for i := range light {
		if light[i] == dark[i] || ansi.Strip(light[i]) != "word" || ansi.Strip(dark[i]) != "word" {
			t.Errorf("style %d: light %q, dark %q", i, light[i], dark[i])
		}
		if none[i] != "word" {
			t.Errorf("style %d has the color %q without colors", i, none[i])
		}
	}
}

// TestContrast: each color is readable on the background that it is for: at least 4.5 to 1, as WCAG
// asks of text, on white and on black.
func TestContrast(t *testing.T) {
	t.Parallel()
	for _, dark := range []bool{false, true} {
		back := 1.0
		if dark {
			back = 0
		}
		for i, s := range draw(dark, termenv.TrueColor) {
			l := luminance(t, s)
			high, low := max(l, back), min(l, back)
			if ratio := (high + 0.05) / (low + 0.05); ratio < 4.5 {
				t.Errorf("dark %v, style %d: contrast %.2f", dark, i, ratio)
			}
		}
	}
}

// luminance returns the relative luminance of the color in the escape sequences of s.
func luminance(t *testing.T, s string) float64 {
	t.Helper()
	var c [3]float64
	at := strings.Index(s, "38;2;")
	if at < 0 {
		t.Fatalf("no color in %q", s)
	}
	if _, err := fmt.Sscanf(s[at:], "38;2;%f;%f;%f", &c[0], &c[1], &c[2]); err != nil {
		t.Fatal(err)
	}
	for i := range c {
		if c[i] /= 255; c[i] <= 0.04045 {
			c[i] /= 12.92
		} else {
			c[i] = math.Pow((c[i]+0.055)/1.055, 2.4)
		}
	}
	return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2]
}
