package main

import (
	"fmt"
	"strings"
)

// report is what a move of the pins changed.
type report struct {
	Before, After pins
	Date          string // newest compatibility date
	Flags         changes
	Wrangler      wranglers
	Gate          []result
}

// subject is the first line of the commit.
func (r report) subject() string {
	if r.Before.Workerd == r.After.Workerd {
		return "chore(workerd): follow wrangler " + r.After.Wrangler
	}
	return "chore(workerd): follow workerd " + r.After.Workerd
}

// body says in the commit what moved.
func (r report) body() string {
	var gate []string
	for _, g := range r.Gate {
		gate = append(gate, g.Name)
	}
	text := fmt.Sprintf("workerd %s, wrangler %s, Vite's plugin %s. Green with them: %s.", r.After.Workerd, r.After.Wrangler, r.After.VitePlugin, strings.Join(gate, ", "))
	if n := len(r.Flags.Added) + len(r.Flags.Removed); n > 0 {
		text += fmt.Sprintf(" The table of compatibility flags has %d changed rows.", n)
	}
	return text
}

// text is the report in Markdown.
func (r report) text() string {
	var b strings.Builder
	verdict := "green"
	for _, g := range r.Gate {
		if g.Err != nil {
			verdict = "red"
		}
	}
	if len(r.Gate) == 0 {
		verdict = "not asked"
	}
	fmt.Fprintf(&b, "# Follow: %s\n\n| package | before | after |\n|---|---|---|\n", verdict)
	for _, p := range [][3]string{
		{"workerd", r.Before.Workerd, r.After.Workerd},
		{"wrangler", r.Before.Wrangler, r.After.Wrangler},
		{"@cloudflare/vite-plugin", r.Before.VitePlugin, r.After.VitePlugin},
		{"@cloudflare/workers-types", "not pinned", r.After.Types},
	} {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", p[0], p[1], p[2])
	}
	if r.Date != "" {
		fmt.Fprintf(&b, "\nNewest compatibility date: %s\n", r.Date)
	}
	section(&b, "Compatibility flags", r.Flags)
	section(&b, "Keys of project files (wrangler's schema)", r.Wrangler.Keys)
	section(&b, "The Build Output that wrangler writes", r.Wrangler.Output)
	if len(r.Gate) > 0 {
		b.WriteString("\n## Gate\n\n| part | result | took |\n|---|---|---|\n")
	}
	for _, g := range r.Gate {
		result := "green"
		if g.Err != nil {
			result = "red: " + g.Err.Error()
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", g.Name, result, g.Took)
	}
	for _, g := range r.Gate {
		if g.Tail != "" {
			fmt.Fprintf(&b, "\n### %s\n\n```\n%s\n```\n", g.Name, g.Tail)
		}
	}
	return b.String()
}

// section lists what was added and removed.
func section(b *strings.Builder, title string, c changes) {
	fmt.Fprintf(b, "\n## %s\n\n", title)
	if len(c.Added)+len(c.Removed) == 0 {
		b.WriteString("No difference.\n")
		return
	}
	for _, row := range c.Added {
		fmt.Fprintf(b, "- new: `%s`\n", strings.Join(strings.Fields(row), " "))
	}
	for _, row := range c.Removed {
		fmt.Fprintf(b, "- gone: `%s`\n", strings.Join(strings.Fields(row), " "))
	}
}
