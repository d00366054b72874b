package kit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/lib/text"
)

// JSON reports whether output is to be a document, JSON or YAML: by flag, else
// SVCCTL_OUTPUT.
func (k *Kit) JSON() bool { return k.JSONEvents || k.format() == "json" || k.format() == "yaml" }

// Wide reports whether tables have all their columns.
func (k *Kit) Wide() bool { return k.format() == "wide" }

func (k *Kit) format() string {
	if k.Output != "" {
		return k.Output
	}
	if c, err := k.Config(); err == nil && c.Output != "" {
		return c.Output
	}
	return "table"
}

// JSONLines reports whether output is to be one JSON document per line.
func (k *Kit) JSONLines() bool { return k.format() == "jsonl" }

// OutputFormats is the annotation of a command with formats besides those of every command.
const OutputFormats = "output formats"

// CheckOutput returns a UsageError for an output format that is neither one of every
// command nor one that this command has besides.
func (k *Kit) CheckOutput(besides ...string) error {
	known := append([]string{"table", "wide", "json", "yaml", "name"}, besides...)
	if f := k.format(); !slices.Contains(known, f) {
		return Usagef("unknown output format %q: use %s", f, strings.Join(known[:len(known)-1], ", ")+" or "+known[len(known)-1])
	}
	return nil
}

// Print writes v as one document or as names, or calls people.
func (k *Kit) Print(v any, people func()) error {
	switch {
	case k.JSONEvents:
		k.Event("result", v)
		return nil
	case k.format() == "yaml":
		return k.printYAML(v)
	case k.format() == "name":
		return k.printNames(v)
	case !k.JSON():
		people()
		return nil
	}
	enc := json.NewEncoder(text.JSON(k.Out))
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// JSONLine writes v as one line.
func (k *Kit) JSONLine(v any) error {
	enc := json.NewEncoder(text.JSON(k.Out))
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// escaped is a document of one line, for stderr.
func escaped(document []byte) string { return text.EscapeJSON(string(document)) }

// Printf writes one line of data for people.
func (k *Kit) Printf(format string, args ...any) {
	_, _ = fmt.Fprintf(k.Out, format+"\n", args...) // a reader that went away wants no more
}

// Age is how long ago t was, in one unit.
func Age(t time.Time) string {
	switch d := time.Since(t); {
	case t.IsZero():
		return "-"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	}
}
