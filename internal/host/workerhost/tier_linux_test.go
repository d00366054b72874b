package workerhost_test

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/host/workerd/workerdtest"
	"github.com/svcctl/svcctl/internal/host/workerhost"
	"github.com/svcctl/svcctl/internal/lib/cputime"
)

// sieves counts primes, as often as a request says.
const sieves = `function sieve(n) {
  const s = new Uint8Array(n + 1);
  let count = 0;
  for (let i = 2; i <= n; i++) { if (s[i]) continue; count++; for (let j = i * i; j <= n; j += i) s[j] = 1; }
  return count;
}
export default { fetch(r) {
  let all = 0;
  for (let n = Number(new URL(r.url).pathname.slice(1)); n > 0; n--) all += sieve(20000);
  return new Response(all);
} }`

const (
	sievesEach = 1   // of a short request: 75 µs of optimized code, 300 to 900 of code that is not
	shortOnes  = 200 // requests
)

// TestCompiledCodeIsInstalled: short requests with rests between them run optimized code. V8 installs
// code that it compiles beside a request only in a request, so that it often did not (v8Flags). A new
// workerd has to pass this, too.
func TestCompiledCodeIsInstalled(t *testing.T) {
	t.Parallel()
	m := &bundle.Manifest{Main: "index.js", Modules: []bundle.Module{{Name: "index.js", Type: bundle.ESModule}}}
	flags := workerhost.Compose(workerhost.Composition{Manifest: m, HeapMB: 128, MemoryMB: 128}).V8Flags
	client, pid := serveSieves(t, []string{"--no-concurrent-recompilation"})
	countPrimes(t, client, 2, shortOnes*sievesEach)
	optimized := used(pid, func() { countPrimes(t, client, 1, shortOnes*sievesEach) })
	for range 5 {
		client, pid := serveSieves(t, flags)
		countPrimes(t, client, 2*shortOnes, sievesEach)
		short := used(pid, func() { countPrimes(t, client, shortOnes, sievesEach) }) -
			used(pid, func() { countPrimes(t, client, shortOnes, 0) })
		t.Logf("processor time: %s, in one request %s", short, optimized)
		if short > 4*optimized {
			t.Errorf("short requests take %s of processor time, one with as much work %s: their code is not optimized", short, optimized)
		}
	}
}

// serveSieves starts workerd with flags of V8.
func serveSieves(t *testing.T, flags []string) (client *http.Client, pid int) {
	t.Helper()
	socket := filepath.Join(bindingtest.Dir(t), "s")
	return workerdtest.ServeProcess(t, workerd.Config{
		Services: []workerd.Service{{Name: "main", Worker: &workerd.Worker{
			Modules: []workerd.Module{{Name: "index.js", Type: workerd.ESModule, Source: sieves}}, CompatibilityDate: "2026-11-17",
		}}},
		Sockets: []workerd.Socket{{Name: "http", Address: "unix:" + socket, Service: workerd.ServiceRef{Name: "main"}}},
		V8Flags: flags,
	}, socket)
}

// used is the processor time that a process uses while f runs.
func used(pid int, f func()) time.Duration {
	before := cputime.Of(pid)
	f()
	return cputime.Of(pid) - before
}

// countPrimes sends requests with rests between them, in which workerd compiles.
func countPrimes(t *testing.T, client *http.Client, requests, sieves int) {
	t.Helper()
	rest := time.NewTicker(4 * time.Millisecond)
	defer rest.Stop()
	for range requests {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprint("http://worker.test/", sieves), nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || string(text) != strconv.Itoa(2262*sieves) {
			t.Fatalf("%s %v", text, err)
		}
		<-rest.C
	}
}
