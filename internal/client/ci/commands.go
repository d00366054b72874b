package ci

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// minSecret is the length from which a value is masked: a shorter one would blank out
// the rest of the log.
const minSecret = 4

// Masks returns the commands that hide values in the log of a job on GitHub; nil
// elsewhere.
func (e Environ) Masks(values []string) []string {
	if e.Provider() != "github" {
		return nil
	}
	var commands []string
	for _, value := range values {
		for line := range strings.Lines(value) {
			if line = strings.TrimRight(line, "\r\n"); len(line) >= minSecret {
				commands = append(commands, "::add-mask::"+escapeData(line))
			}
		}
	}
	return commands
}

// Group returns the lines that begin and end a group of lines in the log of the job;
// both are "" where there are no groups.
func (e Environ) Group(title string, now time.Time) (begin, end string) {
	switch e.Provider() {
	case "github":
		return "::group::" + escapeData(title), "::endgroup::"
	case "gitlab":
		begin = fmt.Sprintf("\x1b[0Ksection_start:%d:svcctl_deploy\r\x1b[0K%s", now.Unix(), title)
		return begin, fmt.Sprintf("\x1b[0Ksection_end:%d:svcctl_deploy\r\x1b[0K", now.Unix())
	}
	return "", ""
}

var (
	place  = regexp.MustCompile(`^\s*([^\s:][^:]*):(\d+):(\d+): (.+)$`)
	thrown = regexp.MustCompile(`^(.+) at ([^\s:]+):(\d+):(\d+)$`)
)

// Annotations are the commands that show an error at its lines on GitHub: one for each
// line of text that begins with "file:line:column: " or ends with " at file:line:column", with
// files as seen from dir. Without such a line it is one for the whole text.
func (e Environ) Annotations(title, text, dir string) []string {
	if e.Provider() != "github" {
		return nil
	}
	var commands []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		m := place.FindStringSubmatch(line)
		if t := thrown.FindStringSubmatch(line); m == nil && t != nil {
			m = []string{line, t[2], t[3], t[4], t[1]}
		}
		if m == nil {
			continue
		}
		commands = append(commands, fmt.Sprintf("::error file=%s,line=%s,col=%s,title=%s::%s",
			escapeProperty(e.inWorkspace(dir, m[1])), m[2], m[3], escapeProperty(title), escapeData(m[4])))
	}
	if len(commands) == 0 {
		commands = append(commands, fmt.Sprintf("::error title=%s::%s", escapeProperty(title), escapeData(text)))
	}
	return commands
}

// inWorkspace is a file's path from the root of the repository.
func (e Environ) inWorkspace(dir, file string) string {
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	if rel, err := filepath.Rel(e["GITHUB_WORKSPACE"], file); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return file
}

func escapeData(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}

func escapeProperty(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(text)
}
