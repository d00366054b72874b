package svc

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The limits of a version's environment. spec: [C5.13] to [C5.16].
const (
	MaxEnvKeys      = 64
	MaxEnvValueSize = 8192 // bytes of UTF-8
)

// The platform variables: the service sets them and a version cannot override them.
const (
	EnvProjectID = "PROJECT_ID"
	EnvVersionID = "VERSION_ID"
)

var envKeyPattern = pattern(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`) //nolint:gochecknoglobals // a constant

// CheckEnv returns one error for each invalid variable of env [D26], nil if all
// are valid. Pointers start with prefix. The result holds no values.
func CheckEnv(env map[string]string, prefix string) []FieldError {
	var errs []FieldError
	if len(env) > MaxEnvKeys {
		errs = append(errs, FieldError{prefix, CodeEnvTooManyKeys, fmt.Sprintf("%d keys; at most %d are allowed", len(env), MaxEnvKeys)})
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
		return CodeEnvPlatformKey, key + " is set by the platform"
	case strings.HasPrefix(upper, "SVC_"), strings.HasPrefix(upper, "RUNTIME_"):
		return CodeEnvReservedKey, key + ": keys that begin with SVC_ or RUNTIME_ are reserved"
	case !envKeyPattern().MatchString(key):
		return CodeEnvInvalidKey, fmt.Sprintf("%q: ", key) + "a key is a letter or '_', then at most 127 letters, digits and '_'"
	case len(value) > MaxEnvValueSize:
		return CodeEnvValueTooLarge, fmt.Sprintf("the value of %s has %d bytes; at most %d are allowed", key, len(value), MaxEnvValueSize)
	}
	return "", ""
}

// escapePointer writes s as one segment of a JSON pointer (RFC 6901).
func escapePointer(s string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(s)
}

// HiddenEnv returns env with "(hidden, 11 bytes)" in place of each value; never nil.
func HiddenEnv(env map[string]string) map[string]string {
	hidden := make(map[string]string, len(env))
	for k, v := range env {
		hidden[k] = fmt.Sprintf("(hidden, %d bytes)", len(v))
	}
	return hidden
}

// PlatformEnv returns the platform variables of a version.
func PlatformEnv(r Ref) map[string]string {
	return map[string]string{EnvProjectID: r.Project, EnvVersionID: r.Version}
}
