package foreign

import (
	"regexp"
	"slices"
	"strings"
)

// Refused is a command line that svcctl does not understand.
type Refused struct {
	Args   []string
	Flag   string                    // name of the unknown flag; "" if something else was refused
	Exists func(words []string) bool // reports whether svcctl has a command
}

// Match is a row that a command line begins with.
type Match struct {
	Row

	typed map[string]string // the words in the places of placeholders
	at    []int             // the arguments that are the literals
}

// Find returns the longest row that the command line begins with. A row of a command that svcctl has is for its
// unknown flags, or, without flags, for wrong arguments.
func Find(l Refused) (best Match, found bool) {
	typed, most := parse(l.Args), 0
	for _, r := range rows() {
		m, weight := match(r, typed)
		if weight > most && l.concerns(r) {
			best, most = m, weight
		}
	}
	return best, most > 0
}

func (l Refused) concerns(r Row) bool {
	if !l.Exists(r.Literals()) {
		return true
	}
	if len(r.Flags()) > 0 {
		return slices.Contains(r.Flags(), l.Flag)
	}
	return l.Flag == ""
}

// line is a command line, taken apart.
type line struct {
	words []string
	at    []int // where each word is in the arguments
	flags []string
}

// valued are flags before a command whose value is the next argument, ours and those of other tools.
//
//nolint:gochecknoglobals // a constant table
var valued = strings.Fields("--server --context -C --output -o --ca-file --cwd --env -e --config -c --profile --env-file --project -p --name -n --namespace --app -a --scope")

// colon is a command of Heroku or of old releases of wrangler.
var colon = regexp.MustCompile(`^[a-z][a-z0-9-]*:[a-z][a-z0-9-]*$`)

func parse(args []string) (l line) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch name, _, assigned := strings.Cut(arg, "="); {
		case slices.Contains(valued, arg):
			i++
		case strings.HasPrefix(arg, "--"):
			l.flags = append(l.flags, name[2:])
		case strings.HasPrefix(arg, "-") && len(arg) > 1 && !assigned:
		case colon.MatchString(arg):
			for part := range strings.SplitSeq(arg, ":") {
				l.words, l.at = append(l.words, part), append(l.at, i)
			}
		default:
			l.words, l.at = append(l.words, arg), append(l.at, i)
		}
	}
	return l
}

// match compares a row with the beginning of a command line. The weight is 0 if they differ, else larger the
// more of the command line the row has. Placeholders at the end of a row may be missing.
func match(r Row, typed line) (m Match, weight int) {
	m = Match{Row: r, typed: map[string]string{}}
	for i, word := range r.words() {
		switch {
		case isPlaceholder(word) && i < len(typed.words):
			m.typed[word] = typed.words[i]
			weight++
		case isPlaceholder(word):
		case i >= len(typed.words) || strings.ToLower(typed.words[i]) != word:
			return m, 0
		default:
			m.at = append(m.at, typed.at[i])
			weight += 10
		}
	}
	for _, flag := range r.Flags() {
		if !slices.Contains(typed.flags, flag) {
			return m, 0
		}
		weight += 10
	}
	return m, weight
}

// Instead is the command line of an alias: its command with the other arguments.
func (m Match) Instead(args []string) []string {
	all := strings.Fields(m.Text)
	for i, arg := range args {
		if !slices.Contains(m.at, i) {
			all = append(all, arg)
		}
	}
	return all
}
