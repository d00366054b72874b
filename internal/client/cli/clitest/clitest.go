package clitest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/svcctl/svcctl/internal/host/workerd/workerdtest"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// Run runs the scripts in testdata/script, in parallel. The commands they use
// are those that TestMain has given to testscript.Main. With SVC_UPDATE_GOLDEN
// set, expectations in the scripts are written anew.
func Run(t *testing.T) {
	t.Helper()
	run(t, testscript.Params{Dir: filepath.Join("testdata", "script")})
}

// RunOf runs some scripts of another program: all of them without names.
func RunOf(t *testing.T, dir string, names ...string) {
	t.Helper()
	if len(names) == 0 {
		run(t, testscript.Params{Dir: dir})
		return
	}
	var files []string
	for _, name := range names {
		files = append(files, filepath.Join(dir, name+".txtar"))
	}
	run(t, testscript.Params{Files: files})
}

func run(t *testing.T, p testscript.Params) {
	t.Helper()
	workerd := workerdtest.Binary(t)
	repository, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	p.RequireExplicitExec, p.RequireUniqueNames, p.UpdateScripts = true, true, svctest.UpdateGolden()
	p.Setup = func(env *testscript.Env) error { return setup(env, repository, workerd) }
	p.Cmds = map[string]func(*testscript.TestScript, bool, []string){
		"await": await, "exits": exits, "until": until, "interrupt": interrupt, "json": checkJSON, "jsonenv": setFromJSON, "ask": ask, "sqlite": sqlite,
		"action": action, "gitlab": gitlab,
	}
	testscript.Run(t, p)
}

// setup gives a script a home and a data directory of its own.
func setup(env *testscript.Env, repository, workerd string) error {
	data, err := os.MkdirTemp("", "cli") // short: unix sockets are made in it
	if err != nil {
		return err
	}
	if t, ok := env.T().(testing.TB); ok {
		t.Cleanup(func() { _ = os.RemoveAll(data) }) // the daemon has ended by then
	}
	for _, v := range [][2]string{
		{"HOME", filepath.Join(env.WorkDir, "home")},
		{"REPOSITORY", repository},
		{"SVC_DATA_DIR", data},
		{"SVC_WORKERD", workerd},
		{"SVC_INGRESS_BASE_DOMAIN", "script.test"},
		{"PLATFORM_PORT", "0"},
		{"GATEWAY_PORT", "0"},
		{"SVC_EMBEDDED_S3_ADDR", "127.0.0.1:0"},
		{"GORACE", "halt_on_error=1 atexit_sleep_ms=0"},
	} {
		env.Setenv(v[0], v[1])
	}
	return nil
}
