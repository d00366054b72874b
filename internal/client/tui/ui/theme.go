package ui

import (
	"github.com/charmbracelet/lipgloss"
)

// Theme has the styles. Each state also has a sign and a word, so that nothing is said
// by color alone.
type Theme struct {
	Plain, Dim, Bold, Accent, Good, Warn, Bad, Cursor, Head lipgloss.Style
}

// NewTheme makes the styles for a terminal: none of them has a color without colors
// (NO_COLOR), and they differ on light and dark backgrounds.
func NewTheme(r *lipgloss.Renderer) *Theme {
	color := func(light, dark string) lipgloss.Style {
		return r.NewStyle().Foreground(lipgloss.AdaptiveColor{Light: light, Dark: dark})
	}
	return &Theme{
		Plain: r.NewStyle(), Bold: r.NewStyle().Bold(true), Head: color("#5f5f87", "#a8a8c8").Bold(true),
		Dim: color("#6c6c6c", "#8a8a8a"), Accent: color("#005faf", "#5fafff").Bold(true),
		Good: color("#007a1f", "#5fd787"), Warn: color("#875f00", "#ffd75f"), Bad: color("#af0000", "#ff6b6b"),
		Cursor: r.NewStyle().Reverse(true),
	}
}

// Page is where a screen draws.
type Page struct {
	*Theme

	W, H  int  // columns and lines
	Plain bool // lines for a screen reader: tables name their columns
}
