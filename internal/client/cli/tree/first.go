package tree

import (
	"os"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/lib/reap"
)

// asFirst runs this command line in a child process and returns its exit code, because
// this process is the first one of a container: it has to wait for each process whose
// parent has ended.
func asFirst(k *kit.Kit) int {
	self, err := os.Executable()
	if err != nil {
		return k.Fail(err)
	}
	code, err := reap.Run(append([]string{self}, os.Args[1:]...), k.Environ)
	if err != nil {
		return k.Fail(err)
	}
	return code
}
