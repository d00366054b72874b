//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// machine is one svcd host with a data directory of its own.
type machine struct {
	name   string
	cmd    *exec.Cmd
	exited chan struct{}
	log    *svctest.Buffer
}

// fleetOf starts a daemon whose versions run on n machines.
func fleetOf(t *testing.T, n int, env ...string) (*daemon, []*machine) {
	t.Helper()
	return fleetWith(t, n, nil, env...)
}

// fleetWith is fleetOf with flags for the machines.
func fleetWith(t *testing.T, n int, flags []string, env ...string) (*daemon, []*machine) {
	t.Helper()
	addr, store := freeAddress(t), freeAddress(t)
	d := newDaemon(t, append([]string{
		"SVC_RUNTIME=remote", "SVC_HOSTS_ADDR=" + addr, "SVC_EMBEDDED_S3_ADDR=" + store, "SVC_LEASE_TTL=6s",
	}, env...)...)
	if !d.start() {
		t.Fatal(d.log.String())
	}
	token := filepath.Join(d.home, "token")
	if err := os.WriteFile(token, []byte(d.ok(d.home, "admin", "hosts", "token")), 0o600); err != nil {
		t.Fatal(err)
	}
	machines := make([]*machine, n)
	for i := range machines {
		machines[i] = d.machine(fmt.Sprintf("m%d", i+1), addr, token, flags...)
	}
	return d, machines
}

// machine starts svcd host.
func (d *daemon) machine(name, addr, token string, flags ...string) *machine {
	d.t.Helper()
	m := &machine{name: name, exited: make(chan struct{}), log: &svctest.Buffer{}}
	m.cmd = exec.Command(program(), append([]string{
		"host", "--join", "https://" + addr, "--token-file", token, "--data", filepath.Join(d.home, name), "--name", name, "--seats", "4",
	}, flags...)...)
	m.cmd.Env, m.cmd.Dir, m.cmd.Stdout, m.cmd.Stderr = d.env, d.home, m.log, m.log
	if err := m.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	go func() { _ = m.cmd.Wait(); close(m.exited) }()
	d.t.Cleanup(func() {
		m.kill()
		if d.t.Failed() {
			d.t.Logf("the log of %s:\n%s", name, m.log.String())
		}
	})
	return m
}

// kill ends a machine as a power cut would.
func (m *machine) kill() {
	_ = m.cmd.Process.Kill() // one that is gone needs none
	<-m.exited
}

// machineOf returns the machine that runs a version; "" if it does not run.
func (d *daemon) machineOf(v api.Version) string {
	d.t.Helper()
	dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", d.hostOf(v)))
	if err != nil {
		return ""
	}
	name, _ := filepath.Rel(d.home, dir) // its run directory is below the data of the machine
	name, _, _ = strings.Cut(name, string(filepath.Separator))
	return name
}

// TestFleet runs the life of versions on two machines, kills one of them while it is written
// to, and then the daemon. No acknowledged write is lost, for each is durable.
func TestFleet(t *testing.T) {
	t.Parallel()
	d, machines := fleetOf(t, 2, "SVC_DURABILITY=sync")
	v1 := d.deploy(ledgerDir, "--version", "v1")
	p, err := d.client().Promote(t.Context(), "ledger", "v1", api.PromoteVersion{})
	if err == nil {
		_, err = d.client().WaitPromotion(t.Context(), "ledger", p.OperationID)
	}
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	add := func(url, line string) {
		t.Helper()
		if a := d.do(http.MethodPost, url+"/add", "text/plain", line); a.Status != http.StatusOK {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	add(v1.ProdURL, "one")
	v2 := d.deploy(ledgerDir, "--version", "v2", "--parent", "v1")
	add(v2.PreviewURL, "two")
	d.checkLines(v2.PreviewURL, []string{"one", "two"})
	if d.machineOf(v1) == d.machineOf(v2) {
		t.Errorf("both versions run on %s", d.machineOf(v1))
	}
	d.ok(d.home, "versions", "archive", "ledger/v2")
	d.ok(d.home, "versions", "wake", "ledger/v2")
	d.checkLines(v2.PreviewURL, []string{"one", "two"})
	d.ok(d.home, "versions", "delete", "--yes", "ledger/v2")

	b := &daemonPair{t: t, daemons: []*daemon{d}, url: v1.ProdURL}
	writers := b.write(d, 4)
	b.await(writers, 30)
	before := d.machineOf(v1)
	for _, m := range machines {
		if m.name == before {
			m.kill()
		}
	}
	svctest.Succeeds(t, "the version on the other machine", func() error {
		if now := d.machineOf(v1); now == "" || now == before {
			return fmt.Errorf("it is on %q", now)
		}
		return nil
	})
	b.await(writers, 30)
	lines = append(lines, "one")
	for _, l := range writers.end() {
		lines = append(lines, l.text)
	}
	d.checkLines(v1.ProdURL, lines)

	host := d.hostOf(v1)
	d.kill()
	if !d.start() {
		t.Fatal(d.log.String())
	}
	svctest.Succeeds(t, "the version after the start of the daemon", func() error {
		if a := d.get(v1.ProdURL + "/who"); a.Status != http.StatusOK {
			return errors.New(a.Body)
		}
		return nil
	})
	if now := d.hostOf(v1); now != host {
		t.Errorf("the version runs in process %d after the daemon was killed, want %d", now, host)
	}
	d.checkLines(v1.ProdURL, lines)
}

// hostOf returns the process of the worker host of a version.
func (d *daemon) hostOf(v api.Version) int {
	d.t.Helper()
	routes, err := d.client().Routes(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	for _, r := range routes.Items {
		if r.VersionID == v.ID && r.ProjectID == v.ProjectID {
			return r.PID
		}
	}
	return 0
}
