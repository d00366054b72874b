package dashboard

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
)

const (
	sparkWidth  = 240
	sparkHeight = 32
)

// spark draws samples as an area below a line, and those of errors as bars. The result
// holds numbers and fixed names only.
func spark(samples, errors []int64, label string) template.HTML {
	top := slices.Max(slices.Concat([]int64{1}, samples, errors))
	step := float64(sparkWidth) / float64(max(len(samples)-1, len(errors)-1, 1))
	y := func(n int64) float64 { return sparkHeight - 1 - float64(n)/float64(top)*(sparkHeight-3) } // room for the line
	var line, bars strings.Builder
	for i, n := range samples {
		fmt.Fprintf(&line, "%s%.1f %.1f", map[bool]string{true: "M", false: "L"}[i == 0], float64(i)*step, y(n))
	}
	for i, n := range errors {
		if n > 0 {
			fmt.Fprintf(&bars, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, float64(i)*step-step/2, y(n), max(step-0.5, 1), sparkHeight-1-y(n)) // a gap between bars
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="spark" viewBox="0 0 %d %d" preserveAspectRatio="none" role="img" aria-label="%s">`, sparkWidth, sparkHeight, template.HTMLEscapeString(label))
	if len(samples) > 1 {
		fmt.Fprintf(&b, `<path class="area" d="%sL%d %dL0 %dZ"/><path class="line" d="%s"/>`, line.String(), sparkWidth, sparkHeight, sparkHeight, line.String())
	}
	b.WriteString(`<g class="errors">` + bars.String() + `</g></svg>`)
	return template.HTML(b.String()) //nolint:gosec // numbers, fixed names and an escaped label
}

// bar is one step of a timeline, in percent of its whole.
type bar struct {
	From, Width string
}

// barOf returns the place of a span in a whole of total.
func barOf(from, length, total float64) bar {
	if total <= 0 {
		total = 1
	}
	const whole = 100
	at := min(max(from/total*whole, 0), whole-0.5)      // at least a hair is visible
	wide := min(max(length/total*whole, 0.5), whole-at) // at least a hair is visible
	return bar{fmt.Sprintf("%.2f%%", at), fmt.Sprintf("%.2f%%", wide)}
}
