package bundle

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// platformPrefix begins the names in env that the platform gives itself.
const platformPrefix = "svc:"

// BadBindingName returns why a binding cannot have a name, or "". Any text is a name in env, as
// on Cloudflare. The name is also one part of paths: of the API, and of the migrations and seeds
// in a bundle. That is why it has no slash and is no "..".
func BadBindingName(name string) string {
	switch {
	case strings.ContainsAny(name, `/\`):
		return "has a slash or a backslash"
	case name == "." || name == "..":
		return "is the name of a directory"
	case strings.TrimSpace(name) != name:
		return "begins or ends with a space" // which a header would lose
	}
	return BadVarName(name)
}

// BadVarName returns why a variable of the bundle cannot have a name, or "".
func BadVarName(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > maxNameBytes:
		return "is longer than 128 bytes"
	case !utf8.ValidString(name):
		return "is not UTF-8"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "has a control character"
	case strings.HasPrefix(name, platformPrefix) || slices.Contains(reservedNames, name):
		return "is reserved for the platform"
	}
	return ""
}
