package svc

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// The limits of a version's environment. spec: Limits.
const (
	MaxEnvKeys      = 64
	MaxEnvValueSize = 8192 // bytes of UTF-8
)

// Platform variables are set by the service and read-only.
const (
	EnvProjectID = "PROJECT_ID"
	EnvVersionID = "VERSION_ID"
)

var envKeyPattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)

// CheckEnv lists what is wrong with a set of overrides [D26]. Pointers start
// with prefix. Values never appear in the result.
func CheckEnv(env map[string]string, prefix string) []FieldError {
	var errs []FieldError
	if len(env) > MaxEnvKeys {
		errs = append(errs, FieldError{prefix, "env_too_many_keys", fmt.Sprintf("%d keys; at most %d are allowed", len(env), MaxEnvKeys)})
	}
	for _, k := range slices.Sorted(maps.Keys(env)) {
		if code, detail := checkEnvEntry(k, env[k]); code != "" {
			errs = append(errs, FieldError{prefix + "/" + escapePointer(k), code, detail})
		}
	}
	return errs
}

func checkEnvEntry(key, value string) (code, detail string) {
	upper := strings.ToUpper(key)
	switch {
	case upper == EnvProjectID || upper == EnvVersionID:
		return "env_platform_key", key + " is set by the platform"
	case strings.HasPrefix(upper, "SVC_"), strings.HasPrefix(upper, "RUNTIME_"):
		return "env_reserved_key", key + ": keys that begin with SVC_ or RUNTIME_ are reserved"
	case !envKeyPattern.MatchString(key):
		return "env_invalid_key", fmt.Sprintf("%q: ", key) + "a key is a letter or '_', then at most 127 letters, digits and '_'"
	case len(value) > MaxEnvValueSize:
		return "env_value_too_large", fmt.Sprintf("the value of %s has %d bytes; at most %d are allowed", key, len(value), MaxEnvValueSize)
	}
	return "", ""
}

// escapePointer writes s as one segment of a JSON pointer (RFC 6901).
func escapePointer(s string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(s)
}

// PlatformEnv is the environment the platform gives to a version.
func PlatformEnv(r Ref) map[string]string {
	return map[string]string{EnvProjectID: r.Project, EnvVersionID: r.Version}
}
