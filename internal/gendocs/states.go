package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

const statesHead = `# The states of a version
` + notice + `
Every move of a version is a compare-and-set: it happens only when the version is in one of the states the arrow may
leave. The table is ` + "`Edges()` in `internal/svc/status.go`" + `, and the registry's statements are made from it.

A version that a release makes takes the same way, beside its steps ([architecture](architecture.md#release)): ` + "`activate`" + ` makes it
production in the same transaction, in place of its parent, which stays ` + "`ready`" + `. A release that is undone ends it as ` + "`failed`" + `.

`

// addStates draws the state machine and prints it as a table.
func addStates(out files) error {
	b := bytes.NewBufferString(statesHead)
	diagram(b)
	b.WriteString("\n| trigger | from | to |\n|---|---|---|\n")
	for _, e := range svc.Edges() {
		fmt.Fprintf(b, "| `%s` | %s | `%s` |\n", e.Trigger, names(e.From), e.To)
	}
	b.WriteString("\n| state | a deploy is under way | answers on its hosts | leaves by |\n|---|:-:|:-:|---|\n")
	for _, s := range svc.Statuses() {
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", s, tick(s.InDeploy()), tick(s.Serves()), names(triggers(s)))
	}
	out["docs/design/state-machine.md"] = b.Bytes()
	return nil
}

// diagram draws the steps of a deploy in a box, so that an arrow that leaves all
// of them is one arrow. One that leaves nearly every state becomes a sentence.
func diagram(b *bytes.Buffer) {
	var inside, outside, everywhere strings.Builder
	for _, e := range svc.Edges() {
		switch {
		case len(except(e)) < 2:
			but := ""
			if left := except(e); len(left) > 0 {
				but = " but " + names(left)
			}
			fmt.Fprintf(&everywhere, "\nNot drawn: `%s` leads from every other state%s to `%s`.\n", e.Trigger, but, e.To)
		case leaves(e, svc.Status.InDeploy):
			fmt.Fprintf(&outside, "    deploy --> %s: %s\n", e.To, e.Trigger)
		default:
			for _, from := range e.From {
				w, indent := &outside, "    "
				if from.InDeploy() && e.To.InDeploy() {
					w, indent = &inside, "        "
				}
				fmt.Fprintf(w, "%s%s --> %s: %s\n", indent, from, e.To, e.Trigger)
			}
		}
	}
	b.WriteString("```mermaid\nstateDiagram-v2\n    state \"a deploy is under way\" as deploy {\n")
	fmt.Fprintf(b, "        [*] --> %s\n%s    }\n    [*] --> deploy\n%s```\n%s", svc.StatusPending, &inside, &outside, &everywhere)
}

// except lists the states, other than its end, that e does not leave.
func except(e svc.Edge) []svc.Status {
	return slices.DeleteFunc(svc.Statuses(), func(s svc.Status) bool { return s == e.To || slices.Contains(e.From, s) })
}

// leaves reports whether e leaves exactly the states of a set.
func leaves(e svc.Edge, set func(svc.Status) bool) bool {
	for _, s := range svc.Statuses() {
		if slices.Contains(e.From, s) != set(s) {
			return false
		}
	}
	return true
}

// triggers are those that may move a version out of s.
func triggers(s svc.Status) []svc.Trigger {
	var out []svc.Trigger
	for _, e := range svc.Edges() {
		if _, err := s.After(e.Trigger); err == nil {
			out = append(out, e.Trigger)
		}
	}
	return out
}

func names[T ~string](list []T) string {
	if len(list) == 0 {
		return "-"
	}
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = "`" + string(s) + "`"
	}
	return strings.Join(out, ", ")
}

func tick(yes bool) string {
	if yes {
		return "yes"
	}
	return ""
}
