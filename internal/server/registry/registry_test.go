package registry_test

import (
	"fmt"

	"github.com/svcctl/svcctl/internal/svc"
)

func ref(project string, n int) svc.Ref {
	return svc.Ref{Project: project, Version: fmt.Sprintf("v%d", n)}
}
