package supervisor_test

import (
	"flag"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/host/workerd/workerdtest"
	"github.com/svcctl/svcctl/internal/svc"
)

// BenchmarkStart compares the time from start to first response of a version (host
// and workerd) with that of workerd alone, alternating. The metric is the ratio of the
// medians; the target is at most 2.
func BenchmarkStart(b *testing.B) {
	h := start(b, nil)
	spec := h.spec(hello, nil)
	var ours, bare []time.Duration
	for b.Loop() {
		t := time.Now()
		h.want(h.mustServe(spec), "/", "hello")
		ours = append(ours, time.Since(t))
		if err := h.StopVersion(b.Context(), spec.Ref); err != nil {
			b.Fatal(err)
		}
		took, _ := bareStart(b, filepath.Join(spec.Local.BundleDir, "modules", "index.js"))
		bare = append(bare, took)
	}
	b.ReportMetric(median(ours).Seconds()*1e3, "ms/start")
	b.ReportMetric(median(bare).Seconds()*1e3, "ms/bare")
	b.ReportMetric(median(ours).Seconds()/median(bare).Seconds(), "ratio")
}

var hostProgram = flag.String("host", "", "svchost that BenchmarkCycle runs; empty = this program")

// BenchmarkCycle reports the CPU time of a start of a version, a response and its sleep, all
// processes but the supervisor's own, and that of workerd alone, alternating.
func BenchmarkCycle(b *testing.B) {
	h := start(b, func(c *options) { c.HostPath = *hostProgram })
	spec := h.spec(hello, nil)
	var ours, bare []time.Duration
	for b.Loop() {
		before := childTime(b)
		h.want(h.mustServe(spec), "/", "hello")
		if _, err := h.Sleep(b.Context(), spec.Ref); err != nil {
			b.Fatal(err)
		}
		ours = append(ours, childTime(b)-before)
		_, used := bareStart(b, filepath.Join(spec.Local.BundleDir, "modules", "index.js"))
		bare = append(bare, used)
	}
	b.ReportMetric(median(ours).Seconds()*1e3, "cpu-ms/cycle")
	b.ReportMetric(median(bare).Seconds()*1e3, "cpu-ms/bare")
	b.ReportMetric(median(ours).Seconds()/median(bare).Seconds(), "ratio")
}

// childTime is the CPU time of the processes that have ended.
func childTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// bareStart starts workerd with a minimal config and waits for its response. It returns the
// time until then, and the CPU time of the process.
func bareStart(b *testing.B, module string) (took, used time.Duration) {
	b.Helper()
	dir := b.TempDir()
	text, err := workerd.Render(workerd.Config{
		Services: []workerd.Service{{Name: "w", Worker: &workerd.Worker{
			Modules: []workerd.Module{{Name: "index.js", Type: workerd.ESModule, Path: module}}, CompatibilityDate: "2026-11-01",
		}}},
		Sockets: []workerd.Socket{{Name: "http", Address: "127.0.0.1:0", Service: workerd.ServiceRef{Name: "w"}}},
	})
	if err != nil {
		b.Fatal(err)
	}
	config := filepath.Join(dir, "config.capnp")
	if err := os.WriteFile(config, text, 0o600); err != nil {
		b.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	t := time.Now()
	args := workerd.Command(workerdtest.Binary(b), workerd.Options{Config: config, ControlFD: 3})
	cmd := exec.CommandContext(b.Context(), args[0], args[1:]...)
	cmd.ExtraFiles, cmd.Env = []*os.File{w}, workerd.Environ(os.Environ())
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	w.Close()
	ports, err := workerd.AwaitListening(r, "http")
	if err != nil {
		b.Fatal(err)
	}
	if _, body, err := fetch(b.Context(), http.DefaultClient, "http://127.0.0.1:"+strconv.Itoa(ports["http"])); err != nil || body != "hello" {
		b.Fatalf("%q %v", body, err)
	}
	took = time.Since(t)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	return took, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// BenchmarkIdle reports the unshared memory of an idle version in MiB; the target is
// at most 30. It runs three versions, so that the pages of the program count as
// shared.
func BenchmarkIdle(b *testing.B) {
	h := start(b, nil)
	var at []svc.Endpoint
	for _, id := range []string{"v-1", "v-2", "v-3"} {
		spec := h.spec(hello, nil)
		spec.Ref.Version = id
		e := h.mustServe(spec)
		h.want(e, "/", "hello")
		at = append(at, e)
	}
	<-time.After(3 * time.Second) // a host releases memory after one second
	for b.Loop() {
		var host, worker float64
		for _, e := range at {
			host += unshared(b, e.PID) / float64(len(at))
			worker += unshared(b, e.WorkerdPID) / float64(len(at))
		}
		b.ReportMetric(host, "MiB-host")
		b.ReportMetric(worker, "MiB-workerd")
		b.ReportMetric(host+worker, "MiB")
	}
}

// unshared returns Private_Clean and Private_Dirty of a process in MiB.
func unshared(tb testing.TB, pid int) float64 {
	tb.Helper()
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
	if err != nil {
		tb.Fatal(err)
	}
	var kib float64
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		if len(f) > 1 && (f[0] == "Private_Clean:" || f[0] == "Private_Dirty:") {
			n, err := strconv.ParseFloat(f[1], 64)
			if err != nil {
				tb.Fatal(err)
			}
			kib += n
		}
	}
	return kib / 1024
}
