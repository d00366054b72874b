package ui

import (
	"github.com/charmbracelet/lipgloss"

	"github.com/svcctl/svcctl/pkg/api"
)

// Status returns the sign, the word and the style of a version's state. A version that
// is ready and has no serving runtime says so.
func Status(t *Theme, v api.Version) (string, *lipgloss.Style) {
	switch v.Status {
	case api.VersionStatusReady:
		if v.Runtime != nil {
			switch v.Runtime.State {
			case api.RuntimeStateBackoff:
				return "! crashed", &t.Bad
			case api.RuntimeStateCrashed:
				return "! crashed", &t.Bad
			case api.RuntimeStateStarting:
				return "◌ starting", &t.Warn
			case api.RuntimeStateAsleep:
				return "○ asleep", &t.Dim
			case api.RuntimeStateStopped, api.RuntimeStateServing:
			}
		}
		return "● ready", &t.Good
	case api.VersionStatusDraining:
		return "◐ draining", &t.Warn
	case api.VersionStatusArchived:
		return "○ archived", &t.Dim
	case api.VersionStatusFailed:
		return "✗ failed", &t.Bad
	case api.VersionStatusDestroyed:
		return "- destroyed", &t.Dim
	case api.VersionStatusPending, api.VersionStatusFetching, api.VersionStatusBranching,
		api.VersionStatusPreparing, api.VersionStatusDeploying, api.VersionStatusDeployReady:
	}
	return "◌ " + string(v.Status), &t.Warn
}

// StepSign returns the sign of a step's state.
func StepSign(t *Theme, status string) (string, *lipgloss.Style) {
	switch status {
	case "done":
		return "✓", &t.Good
	case "failed":
		return "✗", &t.Bad
	case "undone":
		return "↩", &t.Warn
	}
	return "◌", &t.Warn
}

// Deploying reports whether a status is one of a deploy under way.
func Deploying(s api.VersionStatus) bool {
	switch s {
	case api.VersionStatusPending, api.VersionStatusFetching, api.VersionStatusBranching, api.VersionStatusPreparing,
		api.VersionStatusDeploying, api.VersionStatusDeployReady:
		return true
	case api.VersionStatusReady, api.VersionStatusDraining, api.VersionStatusArchived, api.VersionStatusFailed, api.VersionStatusDestroyed:
	}
	return false
}
