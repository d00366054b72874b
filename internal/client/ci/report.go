package ci

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Report is the result of a deploy, for the pages of a job.
type Report struct {
	Project, Version, Status string
	PreviewURL, ProdURL      string // ProdURL only of a production
	Name, NameURL            string // the preview name and its address; "" for none
	Digest                   string
	Parent, Cut              string // Cut is the position in the parent's data; both may be ""
	Source                   Source
	Error                    string // of the version; "" unless its deploy failed
	Failure                  string // why the deploy ended, if the version does not say it; may have several lines
	Migrations               string // what was done to the data; may be ""
	Changed                  string // how many records that made different; "" if that is not known
	Schema                   string // the statements of the schema that differ, as lines of a diff; "" for none
	Release                  string // what a release did; "" without one
	Left, Rescue             string // what a promote left behind, and the command that exports it; "" for nothing
	Took                     time.Duration
}

// pairs are the outputs, in the order in which they are written.
func (r Report) pairs() [][2]string {
	return [][2]string{
		{"project-id", r.Project},
		{"version-id", r.Version},
		{"status", r.Status},
		{"preview-url", r.PreviewURL},
		{"prod-url", r.ProdURL},
		{"preview-name", r.Name},
		{"preview-name-url", r.NameURL},
		{"artifact-digest", r.Digest},
		{"duration-ms", strconv.FormatInt(r.Took.Milliseconds(), 10)},
	}
}

// Outputs appends the outputs of a step to GITHUB_OUTPUT and a table to
// GITHUB_STEP_SUMMARY. It does nothing for variables that are not set.
func (e Environ) Outputs(r Report) error {
	var outputs strings.Builder
	for _, p := range r.pairs() {
		fmt.Fprintf(&outputs, "%s=%s\n", p[0], oneLine(p[1]))
	}
	var errs []error
	for name, text := range map[string]string{"GITHUB_OUTPUT": outputs.String(), "GITHUB_STEP_SUMMARY": r.Markdown()} {
		if path := e[name]; path != "" {
			errs = append(errs, appendTo(path, text))
		}
	}
	return errors.Join(errs...)
}

// Dotenv is the form of the outputs that GitLab reads as artifacts:reports:dotenv.
func (r Report) Dotenv() string {
	var b strings.Builder
	for _, p := range r.pairs() {
		name := "SVCCTL_" + strings.ToUpper(strings.ReplaceAll(p[0], "-", "_"))
		fmt.Fprintf(&b, "%s=%s\n", name, oneLine(p[1]))
	}
	return b.String()
}

// Markdown is the result as a table, for a summary or a comment on a pull request.
func (r Report) Markdown() string {
	title := "Deployed"
	switch {
	case r.Error != "" || r.Failure != "":
		title = "Deploy failed:"
	case r.Release != "":
		title = "Released"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n%s| | |\n|---|---|\n", strings.TrimRight(title+" "+code(r.version()), ": "), fenced("text", r.Failure))
	parent := r.Parent
	if r.Cut != "" {
		parent += " at " + r.Cut
	}
	for _, row := range [][2]string{
		{"Preview", cmp.Or(r.NameURL, r.PreviewURL)},
		{"This version", thisVersion(r)},
		{"Production", r.ProdURL},
		{"Status", r.Status},
		{"Error", code(r.Error)},
		{"Commit", code(r.Source.SHA)},
		{"Parent", code(parent)},
		{"Data", r.Migrations},
		{"Data changed", code(r.Changed)},
		{"Release", r.Release},
		{"Left behind", r.Left},
		{"To export it", code(r.Rescue)},
		{"Duration", r.Took.Round(time.Millisecond).String()},
		{"Logs", code(r.logs())},
	} {
		if row[1] != "" {
			fmt.Fprintf(&b, "| %s | %s |\n", row[0], strings.ReplaceAll(oneLine(row[1]), "|", `\|`))
		}
	}
	b.WriteString("\n")
	if r.Schema != "" {
		fmt.Fprintf(&b, "<details><summary>Schema</summary>\n\n%s</details>\n\n", fenced("diff", r.Schema))
	}
	return b.String()
}

// version names what the report is about: the project alone if there is no version.
func (r Report) version() string { return strings.Trim(r.Project+"/"+r.Version, "/") }

// logs is the command that shows what the version wrote; "" without a version.
func (r Report) logs() string {
	if r.Version == "" {
		return ""
	}
	return "svcctl logs " + r.version()
}

// thisVersion is the address of the version beside that of its preview name.
func thisVersion(r Report) string {
	if r.NameURL == "" {
		return ""
	}
	return r.PreviewURL
}

// maxFailure bounds the text of a failure: a comment may have 65536 bytes.
const maxFailure = 20_000

// fenced is a block of code in a language; "" for "".
func fenced(language, text string) string {
	if text == "" {
		return ""
	}
	if len(text) > maxFailure {
		text = strings.ToValidUTF8(text[:maxFailure], "") + "\n…"
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + language + "\n" + text + "\n" + fence + "\n\n"
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(text, "`", "'") + "`"
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("writing the outputs of the job: %w", err)
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
