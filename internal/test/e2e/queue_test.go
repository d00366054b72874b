//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// TestMissingBundleKeepsNobody: with one deploy worker, a version whose bundle
// never comes does not keep the next one from being deployed.
func TestMissingBundleKeepsNobody(t *testing.T) {
	t.Parallel()
	d := started(t)
	c := d.client()
	if _, err := c.CreateProject(t.Context(), api.CreateProject{ID: "forgetful"}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.CreateVersion(t.Context(), "forgetful", api.CreateVersion{ID: "v1", Upload: true}, ""); err != nil {
		t.Fatal(err)
	}
	d.deploy(hello(t, "hi"))
	v, err := c.Version(t.Context(), "forgetful", "v1")
	if err != nil || v.Status != api.VersionStatusFetching {
		t.Errorf("the forgotten version is %s, %v", v.Status, err)
	}
}

// looping is a worker whose module never ends.
const looping = "console.log('about to loop');\nfor (;;);"

// TestLoopsInARow: with one deploy worker, a good deploy waits for three workers that
// loop at start no longer than the CPU time that each of them may use.
// spec: [C7.17] [C7.23]
func TestLoopsInARow(t *testing.T) {
	t.Parallel()
	d := started(t, "SVC_ORCH_WORKERS=1", "SVC_WORKER_START_TIMEOUT=10m", "SVC_WORKER_START_CPU=500ms")
	before := d.childCPU()
	d.project("bad")
	loop := script(t, looping)
	versions := []string{"v1", "v2", "v3"}
	for _, id := range versions {
		d.push("bad", api.CreateVersion{ID: id}, loop)
	}
	d.deploy(hello(t, "hi"))
	for _, id := range versions {
		d.failed("bad", id, "deploying", "startup_cpu_limit", "used 500ms of CPU time", "about to loop")
	}
	if used := d.childCPU() - before; used > 10*time.Second { // the hosts' own start included
		t.Errorf("three loops used %s of CPU time", used)
	}
}

// TestLoopsBeside: workers that loop at start hold their deploy workers and no other
// one: with a fourth, a good deploy becomes ready while they loop.
// spec: [C7.23]
func TestLoopsBeside(t *testing.T) {
	t.Parallel()
	d := started(t, "SVC_ORCH_WORKERS=4", "SVC_WORKER_START_TIMEOUT=10m", "SVC_WORKER_START_CPU=10m")
	d.project("bad")
	loop := script(t, looping)
	versions := []string{"v1", "v2", "v3"}
	for _, id := range versions {
		d.push("bad", api.CreateVersion{ID: id}, loop)
	}
	svctest.Succeeds(t, "three workers to loop", func() error { return d.all("bad", versions, api.VersionStatusDeploying) })
	d.deploy(hello(t, "hi"))
	if err := d.all("bad", versions, api.VersionStatusDeploying); err != nil {
		t.Error(err)
	}
	for _, id := range versions {
		if _, err := d.client().Destroy(t.Context(), "bad", id); err != nil {
			t.Error(err)
		}
	}
}

// all returns an error unless every version has the status.
func (d *daemon) all(project string, versions []string, status api.VersionStatus) error {
	for _, id := range versions {
		if v, err := d.client().Version(d.t.Context(), project, id); err != nil || v.Status != status {
			return fmt.Errorf("%s is %s (%s), %w", id, v.Status, v.Error, err)
		}
	}
	return nil
}

const tick = 10 * time.Millisecond // the unit of times in /proc

// childCPU is the CPU time of the daemon's processes that ended.
func (d *daemon) childCPU() time.Duration {
	d.t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", d.cmd.Process.Pid))
	if err != nil {
		d.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	fields := strings.Fields(rest)
	var used time.Duration
	for _, f := range fields[13:15] { // cutime and cstime, fields 16 and 17 of the line
		n, err := strconv.Atoi(f)
		if err != nil {
			d.t.Fatal(err)
		}
		used += time.Duration(n) * tick
	}
	return used
}
