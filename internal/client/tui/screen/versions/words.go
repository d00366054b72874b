package versions

import (
	"strings"

	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

// Prod is the star of production; "" for another version.
func Prod(v api.Version) string {
	if v.IsProduction {
		return "★"
	}
	return ""
}

// Pin says that a version is kept from idle archiving: "pinned" by a person, "rollback" by the promote
// that replaced it as production; "" for another version.
func Pin(v api.Version) string {
	switch {
	case v.PinnedBy == api.VersionPinnedByRollback:
		return "rollback"
	case v.Pinned:
		return "pinned"
	}
	return ""
}

func ref(v api.Version) string {
	if v.GitSHA == "" {
		return v.GitRef
	}
	return strings.TrimPrefix(v.GitRef+"@"+v.GitSHA[:min(7, len(v.GitSHA))], "@")
}

func failure(v api.Version) string {
	if v.ErrorCode != "" {
		return v.ErrorStep + ": " + v.ErrorCode
	}
	if v.Runtime != nil && v.Runtime.LastError != "" && v.Runtime.State != api.RuntimeStateServing {
		return v.Runtime.LastError
	}
	return ui.Failure(v)
}
