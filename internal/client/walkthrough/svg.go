package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
)

// The measures of an image, in pixels.
const (
	charWidth  = 8.0
	lineHeight = 19
	margin     = 16
	titleBar   = 34
)

const head = `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" role="img" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="13" fill="#e6edf3">
<title>%[3]s</title>
<style>.b{font-weight:bold}.c31{fill:#ff7b72}.c32{fill:#56d364}.c33{fill:#e3b341}.c34{fill:#79c0ff}.c35{fill:#d2a8ff}.c36{fill:#76e3ea}.c90,.c2{fill:#8b949e}</style>
<rect width="100%%" height="100%%" rx="8" fill="#0d1117"/>
<circle cx="20" cy="17" r="5.5" fill="#ff5f57"/><circle cx="38" cy="17" r="5.5" fill="#febc2e"/><circle cx="56" cy="17" r="5.5" fill="#28c840"/>
`

// svg draws the screen as a window with a title.
func (s *screen) svg(title string) []byte {
	var b bytes.Buffer
	width := 2*margin + int(float64(s.width)*charWidth)
	fmt.Fprintf(&b, head, width, titleBar+margin+lineHeight*len(s.rows), escaped(title))
	for i, row := range s.rows {
		if strings.TrimSpace(text(row)) == "" {
			continue
		}
		fmt.Fprintf(&b, `<text y="%d" xml:space="preserve">`, titleBar+lineHeight*(i+1)-4)
		drawRow(&b, row)
		b.WriteString("</text>\n")
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// drawRow draws the runs of one style. Each has its place and its length, so that columns
// stand below each other in any font.
func drawRow(b *bytes.Buffer, row []cell) {
	for from := 0; from < len(row); {
		to := from + 1
		for to < len(row) && row[to].style == row[from].style {
			to++
		}
		if run := text(row[from:to]); strings.TrimSpace(run) != "" {
			fmt.Fprintf(b, `<tspan x="%g" textLength="%g"%s>%s</tspan>`, margin+float64(from)*charWidth, float64(to-from)*charWidth, class(row[from].style), escaped(run))
		}
		from = to
	}
}

// class is the class of a style, as an attribute.
func class(style string) string {
	parameters := slices.DeleteFunc(strings.Split(style, ";"), func(p string) bool { return p == "" })
	if len(parameters) == 0 {
		return ""
	}
	for i, p := range parameters {
		if parameters[i] = "c" + p; p == "1" {
			parameters[i] = "b"
		}
	}
	return ` class="` + strings.Join(parameters, " ") + `"`
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder never fails
	return b.String()
}
