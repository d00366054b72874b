package elsewhere

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/svcctl/svcctl/internal/client/cli"
	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/cli/whole"
	"github.com/svcctl/svcctl/internal/client/dev"
	"github.com/svcctl/svcctl/internal/svc"
)

// variable names the whole program, as a path or as a command of PATH.
const variable = "SVCCTL_FULL"

// Parts are the commands that need the whole program.
func Parts() cli.Parts {
	return cli.Parts{
		Runs: whole.Handed(become),
		Watch: func(_ context.Context, k *kit.Kit, _ string, _ bool, _ dev.Place) (*dev.Server, error) {
			return nil, become(k)
		},
		Engine: engine,
	}
}

// engine returns the path of workerd: the one that SVC_WORKERD names, or else that of the whole program.
func engine(ctx context.Context, k *kit.Kit) (string, error) {
	for _, v := range k.Environ {
		if path, ok := strings.CutPrefix(v, "SVC_WORKERD="); ok && path != "" {
			return path, nil
		}
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	full, err := find(k.Environ, self)
	if err != nil {
		return "", svc.Errorf(svc.Unprocessable, svc.CodeConfigNotEvaluated, "this is the client, which has no workerd").Because(err)
	}
	cmd := exec.CommandContext(ctx, full, "runtime", "install")
	cmd.Env, cmd.Stderr = append(k.Environ, "SVCCTL_OUTPUT="), k.Err
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("running %s runtime install: %w", full, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// become starts the whole program in place of this one, with the same arguments. It returns if that fails.
func become(k *kit.Kit) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	full, err := find(k.Environ, self)
	if err != nil {
		return err
	}
	if err := syscall.Exec(full, append([]string{full}, os.Args[1:]...), k.Environ); err != nil { //nolint:gosec // the user names it
		return fmt.Errorf("starting %s: %w", full, err)
	}
	return nil
}

// find returns the path of the whole program: named by the environment, or installed beside self.
func find(environ []string, self string) (string, error) {
	for _, v := range environ {
		name, ok := strings.CutPrefix(v, variable+"=")
		if !ok || name == "" {
			continue
		}
		path, err := exec.LookPath(name)
		if err != nil {
			return "", kit.Usagef("%s: %v", variable, err)
		}
		return path, differs(path, self)
	}
	path := filepath.Join(filepath.Dir(self), "..", "lib", "svcctl", "svcctl")
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return "", kit.Usagef("this is the client: it has no server in it. For this command install the whole program:\n" +
			"  go install github.com/svcctl/svcctl/cmd/svcctl@latest, or npm install -g svcctl; or set " + variable + " to its path")
	}
	return path, nil
}

// differs refuses a program that would become itself for ever.
func differs(path, self string) error {
	a, err := os.Stat(path)
	if err != nil {
		return err
	}
	if b, err := os.Stat(self); err == nil && os.SameFile(a, b) {
		return kit.Usagef("%s=%s is the client itself: name the whole program", variable, path)
	}
	return nil
}
