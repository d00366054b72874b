//go:build e2e

package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// pipelineJob is what a pipeline runs for production, and its environment.
type pipelineJob struct {
	name, script string
	env          []string
}

// TestTemplatesKeepWrites runs what README, action and template of GitLab have for production, while
// visitors write: each job releases, and no write is missing in production afterwards.
func TestTemplatesKeepWrites(t *testing.T) {
	t.Parallel()
	d := started(t)
	v := d.deploy(ledgerDir, "--version", "v1")
	dir := d.checkout()
	writers := d.writeTo(v.ProdURL, 2)
	jobs := []pipelineJob{
		{name: "README", script: readmeLine(t, d.note.API)},
		{name: "action with release", script: repository(t, "scripts/action/run"), env: []string{"INPUT_RELEASE=true", "INPUT_DIRECTORY=worker"}},
		{name: "action with promote", script: repository(t, "scripts/action/run"), env: []string{"INPUT_PROMOTE=true", "INPUT_DIRECTORY=worker"}},
		{name: "GitLab", script: gitlabScript(t), env: []string{"SVCCTL_PROJECT=ledger", "SVCCTL_DIRECTORY=worker"}},
	}
	for _, job := range jobs {
		writers.succeed(20)
		d.runJob(dir, job)
	}
	writers.succeed(20)
	d.checkLines(v.ProdURL, writers.end())
	done, err := d.client().Promotions(t.Context(), "ledger", pageOf(len(jobs)))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range done.Items {
		if p.Kind != api.PromotionKindRelease || p.Status != api.PromotionStatusDone {
			t.Errorf("a job made %s the production by a %s, %s", p.VersionID, p.Kind, p.Status)
		}
	}
	if len(done.Items) != len(jobs) {
		t.Errorf("%d jobs made %d releases", len(jobs), len(done.Items))
	}
}

// checkout is the directory of a job, with the worker, and the program in its folder bin.
func (d *daemon) checkout() string {
	d.t.Helper()
	dir := svctest.ShortDir(d.t)
	if err := os.CopyFS(filepath.Join(dir, "worker"), os.DirFS(ledgerDir)); err != nil {
		d.t.Fatal(err)
	}
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.Symlink(svcctl, filepath.Join(bin, "svcctl")); err != nil {
		d.t.Fatal(err)
	}
	return dir
}

// runJob runs the script of a job with bash, as runners do.
func (d *daemon) runJob(dir string, job pipelineJob) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), svctest.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", job.script)
	cmd.Dir = dir
	cmd.Env = append(append(d.env, "CI=true", "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"),
		"SVCCTL_SERVER="+d.note.API, "SVCCTL_DEPLOY_TOKEN="+d.note.DeployToken, "SVCCTL_ADMIN_TOKEN="+d.note.AdminToken), job.env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		d.t.Errorf("%s: %v\n%s", job.name, err, out)
	}
}

// readmeLine is the line for pipelines in the README, with the address of a server.
func readmeLine(t *testing.T, server string) string {
	t.Helper()
	text, err := os.ReadFile(repository(t, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^svcctl deploy \./worker --server .*$`).FindString(string(text))
	if line == "" {
		t.Fatal("the README has no line for pipelines")
	}
	return strings.Replace(line, "https://deploy.example.com", server, 1)
}

// gitlabScript is the script of the production job of the template.
func gitlabScript(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(repository(t, "templates/svcctl.gitlab-ci.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var jobs map[string]struct {
		Script []string `yaml:"script"`
	}
	if err := yaml.Unmarshal(text, &jobs); err != nil {
		t.Fatal(err)
	}
	script := strings.Join(jobs[".svcctl-production"].Script, "\n")
	if script == "" {
		t.Fatal("the template has no production job")
	}
	return script
}

// repository is the absolute path of a file of the repository.
func repository(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}
