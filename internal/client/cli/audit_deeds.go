package cli

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// showDeeds shows records in sentences.
func showDeeds(k *kit.Kit, items []api.AuditRecord) {
	var rows [][]string
	for i, a := range items {
		if i > 0 && retried(a, items[i-1]) {
			continue
		}
		what := svc.AuditSentence(a.Action, a.ProjectID, a.VersionID, a.Status) + replaced(a)
		if a.Reason != "" {
			what += ": " + a.Reason
		}
		rows = append(rows, []string{a.Time.UTC().Format("2006-01-02 15:04:05"), who(a.Actor), what})
	}
	k.Table([]string{"TIME (UTC)", "WHO", "WHAT"}, rows)
}

// who names the actor, and the token if the actor does not say who that is.
func who(a api.AuditActor) string {
	if a.Name == "" || a.Name == a.Token {
		return cmp.Or(a.Token, a.Name)
	}
	return a.Name + " (" + a.Token + ")"
}

// retried reports whether a deploy into an unknown project was tried again after next had created it.
func retried(a, next api.AuditRecord) bool {
	return a.Action == "createVersion" && a.Status == http.StatusNotFound && next.Action == "createProject" &&
		next.Status < http.StatusBadRequest && (a.ProjectID == "" || a.ProjectID == next.ProjectID)
}

const (
	maxChanges = 3  // fields that a sentence names
	maxField   = 40 // bytes of a value in a sentence
)

// replaced says in brackets what a change replaced. A new record replaced nothing; -o wide shows it.
func replaced(a api.AuditRecord) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(a.Before)) {
		was, is := scalar(a.Before[name]), scalar(a.After[name])
		if was != is && was != "" {
			parts = append(parts, fmt.Sprintf("%s was %s", strings.ReplaceAll(name, "_", " "), was))
		}
	}
	if len(parts) == 0 || a.Status >= http.StatusBadRequest {
		return ""
	}
	if more := len(parts) - maxChanges; more > 0 {
		parts = append(parts[:maxChanges], fmt.Sprintf("%d more", more))
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// scalar is a value of one word; "" for no value, and for one that has parts.
func scalar(value any) string {
	switch v := value.(type) {
	case nil, map[string]any, []any:
		return ""
	default:
		text := fmt.Sprint(v)
		if len(text) > maxField {
			return ""
		}
		return text
	}
}
