package cli

import "github.com/svcctl/svcctl/internal/client/cli/whole"

// forms are the commands of the whole program, which do nothing here.
func forms() Parts { return Parts{Runs: whole.Handed(nil)} }
