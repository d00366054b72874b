//go:build kube

package kube

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// children is how many children are deployed for the median time from POST to ready.
const children = 7

// readyTimes deploys children of v1, one after another, and returns how long each took from POST to
// ready. before is called in front of each, after with each. A pause lets the end of the one before,
// and the start of another spare, leave the processors.
func readyTimes(before func(), deploy func(name string) api.Version, after func(api.Version)) (list []time.Duration) {
	for i := range children {
		before()
		<-time.After(2 * time.Second)
		v := deploy(fmt.Sprintf("try%d", i))
		list = append(list, v.ReadyAt.Sub(v.CreatedAt.Time))
		after(v)
	}
	slices.Sort(list)
	return list
}

// locally deploys the same children to a server on this machine, which uses the object store and the
// durability of the cluster, and returns how long each took.
func (c *cluster) locally(t *testing.T, worker string) []time.Duration {
	t.Helper()
	dir := svctest.ShortDir(t)
	env := append(os.Environ(),
		"HOME="+dir, "SVC_DATA_DIR="+filepath.Join(dir, "data"), "PLATFORM_PORT=0", "GATEWAY_PORT=0", "SVC_DURABILITY="+c.durability, "SVC_SPARE_HOSTS=1",
		"S3_ENDPOINT="+c.s3.Endpoint(), "S3_REGION=us-east-1", "S3_ACCESS_KEY_ID="+c.s3.Keys().AccessKey, "S3_SECRET_ACCESS_KEY="+c.s3.Keys().SecretKey.Reveal(),
		"SVC_ARTIFACTS_BUCKET=local-artifacts", "RUNTIME_BUCKET=local-runtime",
		"SVC_WORKERD="+c.workerd(),
	)
	program := filepath.Join(c.root, "bin/svcctl")
	server := exec.CommandContext(t.Context(), program, "serve")
	server.Env, server.Stderr = env, os.Stderr
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Process.Signal(syscall.SIGTERM); _ = server.Wait() }()
	svctest.Succeeds(t, "the server on this machine", func() error {
		_, err := os.Stat(filepath.Join(dir, "data", "daemon.json"))
		return err
	})
	run := func(args ...string) (v api.Version) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, append(args, "-o", "json")...)
		cmd.Env, cmd.Dir = env, worker
		out, err := cmd.Output()
		if err == nil {
			err = json.Unmarshal(out, &v)
		}
		if err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
		return v
	}
	run("deploy", "--wait", "--version", "v1")
	run("deploy", "--wait", "--version", "second", "--parent", "v1") // spares start with it
	spare := func() { c.awaitLocalSpare(filepath.Join(dir, "data")) }
	return readyTimes(spare, func(name string) api.Version {
		return run("deploy", "--wait", "--version", name, "--parent", "v1")
	}, func(v api.Version) { run("versions", "delete", "ledger/"+v.ID, "--yes") })
}

// awaitLocalSpare waits until the server on this machine has a spare.
func (c *cluster) awaitLocalSpare(data string) {
	c.t.Helper()
	note, err := config.ReadNote(data)
	if err != nil {
		c.t.Fatal(err)
	}
	svctest.Succeeds(c.t, "a spare on this machine", func() error {
		r, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, note.API+"/metrics", nil)
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+note.AdminToken)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err == nil && !strings.Contains(string(text), "\nsvc_spare_hosts 1") {
			err = errors.New("svc_spare_hosts is not 1")
		}
		return err
	})
}

// workerd is the binary of the pinned version, which the build of the image has downloaded.
func (c *cluster) workerd() string {
	c.t.Helper()
	out := c.run(nil, filepath.Join(c.root, "bin/svcctl"), "runtime", "path")
	return out[:len(out)-1]
}
