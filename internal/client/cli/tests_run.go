package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/svcctl/svcctl/internal/client/build"
	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/pkg/client"
)

// tests is one run of svcctl test.
type tests struct {
	k       *kit.Kit // of the user
	kit     *kit.Kit // for the server of the tests
	o       testOptions
	place   string // the directory in which the command runs
	project string // whose branches the tests get
	root    string // worker directory
}

// deploy deploys the workers, those that others call first.
func (t *tests) deploy(ctx context.Context) error {
	if len(t.o.configs) == 0 && t.o.build.project == "" {
		t.o.configs = project.Workers(t.place)
	}
	if len(t.o.configs) < 2 {
		if len(t.o.configs) == 1 {
			t.o.build.config = t.o.configs[0]
		}
		built, err := t.deployOne(ctx, t.o.build)
		if err == nil {
			t.project, t.root = built.Project, built.Config.Root
		}
		return err
	}
	order, err := deployOptions{build: t.o.build, configs: t.o.configs}.together(ctx, t.kit)
	if err != nil {
		return err
	}
	for _, w := range order {
		one := t.o.build
		one.config = w.config
		if _, err := t.deployOne(ctx, one); err != nil {
			return fmt.Errorf("%s: %w", w.file.Name, err)
		}
		if w.config == t.o.configs[0] {
			t.project, t.root = w.file.Name, w.file.Root
		}
	}
	return nil
}

// deployOne deploys one worker as the parent of the branches, and waits until it serves.
func (t *tests) deployOne(ctx context.Context, o buildOptions) (*build.Result, error) {
	began := time.Now()
	env, err := t.o.vars.read(t.k)
	if err != nil {
		return nil, err
	}
	c, err := t.kit.Client()
	if err != nil {
		return nil, err
	}
	progress := t.k.NewProgress()
	defer progress.Abort()
	o.detached = true
	built, err := o.run(ctx, t.kit, progress)
	if err != nil {
		return nil, err
	}
	defer built.Remove()
	req := deployOptions{version: testParent}.request(built.Project, built.Digest, env)
	if err := checkSecrets(ctx, t.kit, c, built, req); err != nil {
		return nil, err
	}
	creating := creation{k: t.kit, c: c, progress: progress, built: built, timeout: t.o.timeout}
	accepted, err := creating.create(ctx, req)
	if err == nil {
		err = creating.send(ctx, accepted)
	}
	if err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeout(ctx, t.o.timeout)
	defer cancel()
	if _, err := c.Wait(waiting, built.Project, testParent, nil); err != nil {
		if failed, ok := errors.AsType[*client.VersionError](err); ok {
			return nil, fmt.Errorf("the worker cannot be tested: %s", built.Explain(failed.Version.Error))
		}
		return nil, err
	}
	progress.Done("")
	t.k.Notef("%s/%s is ready (%s)", built.Project, testParent, time.Since(began).Round(time.Millisecond))
	return built, nil
}

// run runs a command of the project, with the programs of its npm packages on the PATH.
func (t *tests) run(ctx context.Context, command []string) error {
	keep := filepath.Join(t.root, ".svcctl", "test")
	if err := clearKept(keep); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", `exec "$@"`, "sh"}, command...)...)
	cmd.Dir = t.place
	cmd.Env = append(build.WithBins(t.kit.Environ, t.place), slices.Concat(variables(t.kit, "SVCCTL_SERVER", "SVCCTL_DEPLOY_TOKEN", "SVCCTL_ADMIN_TOKEN"),
		[]string{"SVCCTL_TEST_PROJECT=" + t.project, "SVCCTL_TEST_PARENT=" + testParent, "SVCCTL_TEST_KEEP=" + keep})...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = t.k.In, t.k.Out, t.k.Err
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // a terminal has sent SIGINT to it as well
	cmd.WaitDelay = testStopLimit
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 0 {
		return &kit.EndedError{Command: command[0], Code: exit.ExitCode()}
	}
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("running %s: %w", command[0], err)
	}
	return nil
}

// variables are entries of an environment.
func variables(k *kit.Kit, names ...string) (list []string) {
	for _, name := range names {
		list = append(list, name+"="+environment(k, name))
	}
	return list
}

// clearKept removes what the tests of an earlier run have left.
func clearKept(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("removing what earlier tests have left: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o750); err != nil {
		return fmt.Errorf("making the directory for tests that fail: %w", err)
	}
	ignore := filepath.Join(filepath.Dir(dir), ".gitignore")
	if _, err := os.Stat(ignore); err == nil {
		return nil
	}
	return os.WriteFile(ignore, []byte("*\n"), 0o600)
}
