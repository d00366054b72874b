package workerd

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/svcctl/svcctl/internal/svc"
)

// maxExplanation bounds the text of Explain, in bytes.
const maxExplanation = 600

// startupErrors are workerd's words for each code, in the order of looking:
// what names the cause best comes first.
//
//nolint:gochecknoglobals // a constant table
var startupErrors = []struct{ words, code string }{
	{"JavaScript heap out of memory", svc.CodeOutOfMemory},
	{"<--- Last few GCs --->", svc.CodeOutOfMemory},
	{"No such compatibility flag", svc.CodeCompatFlagUnknown},
	{"you must pass --experimental", svc.CodeCompatFlagExperimental},
	{"Compatibility flags are mutually contradictory", svc.CodeCompatFlagConflict},
	{"Compatibility flag specified multiple times", svc.CodeCompatFlagConflict},
	{"Invalid compatibility date", svc.CodeCompatDateInvalid},
	{"newest date supported by this server binary", svc.CodeCompatDateFuture},
	{"Can't set compatibility date in the future", svc.CodeCompatDateFuture},
	{"No such module", svc.CodeModuleMissing},
	{"Uncaught SyntaxError", svc.CodeSyntaxError},
	{"Uncaught ", svc.CodeStartupException},
}

var (
	serviceName = regexp.MustCompile(`^service [^\s:]+(:[^\s:]+)*: `)
	spaces      = regexp.MustCompile(`\s+`)
)

// Explain turns what workerd printed before it exited into a stable code and
// one short line for people. Running out of heap is reported on stdout, everything
// else on stderr: give it both. With nothing it can name, the code is startup_failed
// and the text the first error, or "" if absent. The text holds no value
// of env.
func Explain(output string, env map[string]string) (code, text string) {
	messages := errorMessages(output)
	for _, e := range startupErrors {
		for _, m := range messages {
			if strings.Contains(m, e.words) {
				return e.code, explanation(e.code, svc.Redact(m, env))
			}
		}
	}
	if len(messages) == 0 {
		return svc.CodeStartupFailed, ""
	}
	return svc.CodeStartupFailed, explanation(svc.CodeStartupFailed, svc.Redact(messages[0], env))
}

func explanation(code, message string) string {
	if code == svc.CodeOutOfMemory {
		return "the worker ran out of memory while it started"
	}
	message = serviceName.ReplaceAllString(message, "")
	message = strings.TrimPrefix(message, "Uncaught ")
	message = spaces.ReplaceAllString(strings.TrimSpace(message), " ")
	return clip(message, maxExplanation)
}

// errorMessages gives the messages of error lines, and lines that are not
// structured unchanged.
func errorMessages(output string) []string {
	var messages []string
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		var entry rawLine
		switch {
		case line == "":
		case json.Unmarshal([]byte(line), &entry) != nil:
			messages = append(messages, line)
		case entry.Level == "error" || entry.Level == "fatal":
			messages = append(messages, entry.Message)
		}
	}
	return messages
}

// clip shortens s to at most limit bytes of whole characters.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const mark = "…"
	cut := limit - len(mark)
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + mark
}
