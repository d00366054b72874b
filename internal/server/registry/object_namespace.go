package registry

import (
	"crypto/rand"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// newNamespace is the namespace of a new project [D66]. It is random and not made of the id, so that
// a project that is deleted and created again, perhaps by another user, has other ids.
func newNamespace() svc.ObjectNamespace { return svc.ObjectNamespace(strings.ToLower(rand.Text())) }

// inheritedNamespace is the namespace of a new version of the project ?1: that of its parent ?3, whose
// objects it begins with, or of a root that of the project.
const inheritedNamespace = `coalesce((SELECT object_namespace FROM versions WHERE project_id = ?1 AND id = ?3),
	(SELECT object_namespace FROM projects WHERE id = ?1))`
