package dashboard

import (
	"cmp"
	"fmt"
	"html/template"
	"net/url"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// functions are those of the templates. All return plain text, which html/template
// escapes, but for the charts, which are built of numbers alone.
func functions() template.FuncMap {
	return template.FuncMap{
		"age": age, "ms": millis, "bytes": size, "status": statusOf, "step": stepOf, "commit": commit, "deref": deref, "rate": rate, "share": share,
		"spark": spark, "clock": clock, "versionURL": versionURL, "refURL": refURL, "projectURL": projectURL, "dict": dict, "short": short, "count": count, "deploying": func(s api.VersionStatus) bool { return svc.Status(s).InDeploy() },
		"split": strings.Fields, "sum": sum, "releasedAs": releasedAs, "isRelease": isRelease, "notMerged": notMerged, "stays": stays, "apart": apart, "export": export,
		"pin": pin, "failure": why, "output": output, "detail": detail, "wordOf": func(s api.VersionStatus) sign { return statusOf(api.Version{Status: s}) },
	}
}

// sign is a state as glyph, word and color.
type sign struct{ Glyph, Word, Class string }

// statusOf returns the state of a version. A version that is ready and has no serving
// runtime says so.
func statusOf(v api.Version) sign {
	switch v.Status {
	case api.VersionStatusReady:
		if v.Runtime != nil {
			switch v.Runtime.State {
			case api.RuntimeStateBackoff, api.RuntimeStateCrashed:
				return sign{"!", "crashed", "bad"}
			case api.RuntimeStateStarting:
				return sign{"◌", "starting", "busy"}
			case api.RuntimeStateAsleep:
				return sign{"○", "asleep", "dim"}
			case api.RuntimeStateStopped, api.RuntimeStateServing:
			}
		}
		return sign{"●", "ready", "good"}
	case api.VersionStatusArchived:
		return sign{"○", "archived", "dim"}
	case api.VersionStatusFailed:
		return sign{"✗", "failed", "bad"}
	case api.VersionStatusDestroyed:
		return sign{"–", "destroyed", "dim"}
	case api.VersionStatusDraining, api.VersionStatusPending, api.VersionStatusFetching, api.VersionStatusBranching,
		api.VersionStatusPreparing, api.VersionStatusDeploying, api.VersionStatusDeployReady:
	}
	return sign{"◌", string(v.Status), "busy"}
}

// why is why a version failed, with places of the sources where they are known; output is what
// the worker printed.
func why(v api.Version) string    { return cmp.Or(v.ErrorInSources, v.Error) }
func output(v api.Version) string { return cmp.Or(v.ErrorOutputInSources, v.ErrorOutput) }

// detail is the detail of a step: that of the failed one repeats the error of the version.
func detail(v api.Version, text string) string {
	if text == v.Error {
		return why(v)
	}
	return text
}

// pin says that a version is kept from idle archiving: "pinned" by a person, "rollback" by the promote
// that replaced it as production; "" for another version.
func pin(v api.Version) string {
	switch {
	case v.PinnedBy == api.VersionPinnedByRollback:
		return "rollback"
	case v.Pinned:
		return "pinned"
	}
	return ""
}

// stepOf returns the state of a step of a deploy or a promote.
func stepOf(s api.StepStatus) sign {
	switch s {
	case api.StepStatusDone:
		return sign{"✓", "done", "good"}
	case api.StepStatusFailed:
		return sign{"✗", "failed", "bad"}
	case api.StepStatusUndone:
		return sign{"↩", "undone", "busy"}
	case api.StepStatusRunning:
	}
	return sign{"◌", "running", "busy"}
}

// age returns the time between two moments in its largest unit.
func age(now time.Time, at api.Time) string {
	d := max(now.Sub(at.Time), 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// clock returns a moment in UTC to the second.
func clock(at api.Time) string { return at.UTC().Format("2006-01-02 15:04:05") }

// millis returns a duration for people.
func millis(ms float64) string {
	switch {
	case ms <= 0:
		return "–"
	case ms < 1:
		return fmt.Sprintf("%.1f ms", ms)
	case ms < 1000:
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.1f s", ms/1000)
}

// size returns a number of bytes for people.
func size(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, units := float64(n), "KMGTP"
	for i := range units {
		if value /= unit; value < unit || i == len(units)-1 {
			return fmt.Sprintf("%.1f %ciB", value, units[i])
		}
	}
	return ""
}

// rate returns requests a second of a window.
func rate(n int64, seconds float64) string {
	if seconds <= 0 || n == 0 {
		return "0"
	}
	if r := float64(n) / seconds; r < 10 { // below, a digit more says something
		return fmt.Sprintf("%.2g", r)
	}
	return fmt.Sprintf("%.0f", float64(n)/seconds)
}

// share returns a part of a whole in percent.
func share(part, whole int64) string {
	switch {
	case whole == 0:
		return "–"
	case part == 0:
		return "0%"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(part)/float64(whole))
}

// sum returns the sum of counts.
func sum(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// count returns a number with its noun in the right form.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// commit returns ref and commit of a version.
func commit(v api.Version) string {
	return strings.Trim(v.GitRef+" "+short(v.GitSHA), " ")
}

// short returns the beginning of a digest.
func short(text string) string {
	const digits = 7
	return text[:min(len(text), digits)]
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// versionURL returns the address of a page of a version.
func versionURL(project, version string, below ...string) string {
	path := []string{"p", project, "v", version}
	for _, part := range below {
		path = append(path, strings.Split(part, "/")...)
	}
	return joined(path)
}

// refURL returns the address of a page of a version that is named "<project>/<version>".
func refURL(ref string, below ...string) string {
	project, version, _ := strings.Cut(ref, "/")
	return versionURL(project, version, below...)
}

// projectURL returns the address of a page of a project.
func projectURL(project string, below ...string) string {
	return joined(append([]string{"p", project}, below...))
}

func joined(parts []string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString("/" + url.PathEscape(p))
	}
	return b.String()
}

// dict makes the argument of a shared part out of pairs of name and value.
func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, fmt.Errorf("dict of %d values", len(pairs))
	}
	out := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		out[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return out, nil
}
