package svc

import (
	"maps"
	"slices"
)

// EnvSource says where a variable of a worker comes from. spec: [C5.4] [C5.5] [C5.6].
type EnvSource string

// The sources, lowest precedence first. spec: [C5.7].
const (
	EnvBundle   EnvSource = "bundle"
	EnvOverride EnvSource = "override"
	EnvPlatform EnvSource = "platform"
)

// Environment is the environment of a version, by source. Its values may be secrets.
type Environment struct {
	Ref       Ref
	Bundle    map[string]string // of the deployed configuration; empty until the bundle was fetched
	Overrides map[string]string
}

// EnvEntry is one variable that the worker sees.
type EnvEntry struct {
	Key      string
	Value    string // a value of the bundle that is not text is its JSON
	Source   EnvSource
	Shadowed []EnvSource // sources with another value, which Source replaces; lowest first
}

// Entries returns the effective variables, sorted by key [D28].
func (e Environment) Entries() []EnvEntry {
	byKey := map[string]EnvEntry{}
	for _, from := range []struct {
		source EnvSource
		vars   map[string]string
	}{{EnvBundle, e.Bundle}, {EnvOverride, e.Overrides}, {EnvPlatform, PlatformEnv(e.Ref)}} {
		for key, value := range from.vars {
			entry := EnvEntry{Key: key, Value: value, Source: from.source}
			if lower, ok := byKey[key]; ok {
				entry.Shadowed = append(lower.Shadowed, lower.Source)
			}
			byKey[key] = entry
		}
	}
	entries := make([]EnvEntry, 0, len(byKey))
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		entries = append(entries, byKey[key])
	}
	return entries
}

// EnvChange replaces the overrides of a version [D27].
type EnvChange struct {
	Vars map[string]string
	// Match is called with the environment that the change replaces; its error
	// rejects the change. Nil accepts any.
	Match func(Environment) error
}

// CanSetEnv returns the reason why the overrides of v cannot change, nil if they can
// [D27]. In the steps after branching the deploy may have read them.
func CanSetEnv(v Version) error {
	switch v.Status {
	case StatusPending, StatusFetching, StatusBranching, StatusReady, StatusDraining, StatusArchived:
		return nil
	case StatusDestroyed:
		return Errorf(Gone, CodeVersionDestroyed, "version %s was destroyed", v.Ref)
	case StatusFailed:
		return Errorf(Conflict, CodeVersionFailed, "version %s failed and cannot start again", v.Ref).WithHint("create a new version")
	case StatusPreparing, StatusDeploying, StatusDeployReady:
	}
	return Errorf(Conflict, CodeVersionNotReady, "version %s is %s: its worker is starting", v.Ref, v.Status).WithHint("wait until it is ready")
}

// EnvDifference is a variable that two environments do not have in common, without its
// values.
type EnvDifference struct {
	Key           string
	Before, After EnvSource // "" if the environment does not have it
}

// DiffEnv returns the variables, other than those of the platform, that differ in their
// effective value, sorted by key.
func DiffEnv(from, to Environment) (list []EnvDifference) {
	before, after := map[string]EnvEntry{}, map[string]EnvEntry{}
	keys := map[string]bool{}
	for _, side := range []struct {
		e  Environment
		by map[string]EnvEntry
	}{{from, before}, {to, after}} {
		for _, entry := range side.e.Entries() {
			if entry.Source != EnvPlatform {
				side.by[entry.Key], keys[entry.Key] = entry, true
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		was, had := before[key]
		is, has := after[key]
		if had != has || was.Value != is.Value {
			list = append(list, EnvDifference{Key: key, Before: was.Source, After: is.Source})
		}
	}
	return list
}
