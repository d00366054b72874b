package dirstore_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/dirstore"
	"github.com/svcctl/svcctl/internal/objstore"
)

// The test binary is one of several processes when it is called with
// childArg, a role, a directory and an id.
const (
	childArg  = "use-the-store"
	processes = 6
	contested = 40 // keys every process tries to create
	additions = 40 // to the counter, by each process
)

func TestMain(m *testing.M) {
	if len(os.Args) == 5 && os.Args[1] == childArg {
		if err := child(os.Args[2], os.Args[3], os.Args[4]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child says ready, waits for its stdin to end, and plays its role.
func child(role, dir, id string) error {
	b, err := dirstore.Open(dir)
	if err != nil {
		return err
	}
	defer b.Close()
	fmt.Println("ready")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	switch role {
	case "create":
		return create(b, id)
	case "count":
		return count(b)
	default:
		return write(b, id)
	}
}

// create prints the keys it won.
func create(b objstore.Bucket, id string) error {
	for i := range contested {
		key := fmt.Sprintf("deep/%d/won", i) // the folder is contested as well
		switch _, err := put(b, key, id, objstore.Condition{IfAbsent: true}); {
		case err == nil:
			fmt.Println(key)
		case !errors.Is(err, objstore.ErrPrecondition):
			return err
		}
	}
	return nil
}

func count(b objstore.Bucket) error {
	for added := 0; added < additions; {
		data, info, err := objstore.Read(context.Background(), b, "counter", 0, -1)
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(string(data))
		if err != nil {
			return err
		}
		_, err = put(b, "counter", strconv.Itoa(n+1), objstore.Condition{IfMatch: info.ETag})
		if err == nil {
			added++
		} else if !errors.Is(err, objstore.ErrPrecondition) {
			return err
		}
	}
	return nil
}

// write puts objects until it is killed, and prints each when it is acknowledged:
// one key created once, one replaced by number, one deleted again.
func write(b objstore.Bucket, id string) error {
	cond := objstore.Condition{}
	for n := 0; ; n++ {
		created := fmt.Sprintf("new/%s/%d", id, n)
		if _, err := put(b, created, bodyOf(created, n), objstore.Condition{IfAbsent: true}); err != nil {
			return err
		}
		fmt.Println(created, n)
		info, err := put(b, "hot/"+id, bodyOf("hot/"+id, n), cond)
		if err != nil {
			return err
		}
		cond = objstore.Condition{IfMatch: info.ETag}
		fmt.Println("hot/"+id, n)
		brief := fmt.Sprintf("brief/%s/x", id)
		if _, err := put(b, brief, bodyOf(brief, n), objstore.Condition{IfAbsent: true}); err != nil {
			return err
		}
		if err := b.Delete(context.Background(), brief); err != nil {
			return err
		}
	}
}

// bodyOf is an object that shows what it is and whether it is whole.
func bodyOf(key string, n int) string {
	head := fmt.Sprintf("%s %d\n", key, n)
	sum := sha256.Sum256([]byte(head))
	return head + strings.Repeat(fmt.Sprintf("%x\n", sum), 100+n%500)
}

// numberOf is the number a whole object was written with.
func numberOf(key string, body []byte) (int, error) {
	var name string
	var n int
	if _, err := fmt.Sscanf(string(body), "%s %d\n", &name, &n); err != nil {
		return 0, fmt.Errorf("%s is torn: %w", key, err)
	}
	if string(body) != bodyOf(key, n) {
		return 0, fmt.Errorf("%s is torn: %d bytes", key, len(body))
	}
	return n, nil
}

type process struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	stdout *bufio.Scanner
	stderr *bytes.Buffer
}

// spawn starts processes that wait until go() is called.
func spawn(t *testing.T, role, dir string, n int) (all []*process, start func()) {
	t.Helper()
	for i := range n {
		p := &process{cmd: exec.CommandContext(t.Context(), os.Args[0], childArg, role, dir, strconv.Itoa(i)), stderr: new(bytes.Buffer)}
		p.cmd.Stderr = p.stderr
		in, err := p.cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := p.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		p.stdin, p.stdout = in, bufio.NewScanner(out)
		all = append(all, p)
	}
	for _, p := range all {
		if !p.stdout.Scan() || p.stdout.Text() != "ready" {
			t.Fatalf("%q: %s", p.stdout.Text(), p.stderr)
		}
	}
	return all, func() {
		for _, p := range all {
			p.stdin.Close()
		}
	}
}

// rest gives the lines of a process that ends by itself.
func (p *process) rest(t *testing.T) (lines []string) {
	t.Helper()
	for p.stdout.Scan() {
		lines = append(lines, p.stdout.Text())
	}
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, p.stderr)
	}
	return lines
}

func TestOneProcessCreatesAKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	all, start := spawn(t, "create", dir, processes)
	start()
	b, winners, wins := open(t, dir), map[string]int{}, make([]int, processes)
	for i, p := range all {
		for _, key := range p.rest(t) {
			if by, taken := winners[key]; taken {
				t.Errorf("%s was created by %d and by %d", key, by, i)
			}
			winners[key] = i
			wins[i]++
			if data, _, err := objstore.Read(t.Context(), b, key, 0, -1); err != nil || string(data) != strconv.Itoa(i) {
				t.Errorf("%s holds %q, not its winner %d: %v", key, data, i, err)
			}
		}
	}
	if len(winners) != contested {
		t.Errorf("%d of %d keys have a winner", len(winners), contested)
	}
	t.Logf("wins by process: %v", wins)
}

func TestNoProcessLosesAnUpdate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := open(t, dir)
	mustPut(t, b, "counter", "0")
	all, start := spawn(t, "count", dir, processes)
	start()
	for _, p := range all {
		p.rest(t)
	}
	if data, _, err := objstore.Read(t.Context(), b, "counter", 0, -1); err != nil || string(data) != strconv.Itoa(processes*additions) {
		t.Errorf("counted %s, %v, want %d", data, err, processes*additions)
	}
}

// TestKilledWriters kills writers in the middle of puts, and looks while and
// after that: everything there is whole, everything acknowledged is there.
func TestKilledWriters(t *testing.T) {
	t.Parallel()
	const writers, rounds = 3, 6
	for round := range rounds {
		dir := t.TempDir()
		b := open(t, dir)
		all, start := spawn(t, "write", dir, writers)
		start()
		acked := map[string]int{}
		for i, p := range all {
			for range 17*round + 5*i + 3 { // somewhere else each time
				if !p.stdout.Scan() {
					t.Fatalf("writer ended: %s", p.stderr)
				}
				note(t, acked, p.stdout.Text())
				checkWhole(t, b, "hot/", "brief/")
			}
			if err := p.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			for p.stdout.Scan() { // what it said before it died
				note(t, acked, p.stdout.Text())
			}
			if err := p.cmd.Wait(); err == nil {
				t.Error("the writer ended by itself")
			}
		}
		have := checkWhole(t, b, "")
		for key, n := range acked {
			if got, there := have[key]; !there || got < n {
				t.Errorf("round %d: %s was acknowledged with %d, now %d (%v)", round, key, n, got, there)
			}
		}
		mustPut(t, b, "after", "x") // the dead keep no lock
	}
}

func note(t *testing.T, acked map[string]int, line string) {
	t.Helper()
	key, number, _ := strings.Cut(line, " ")
	n, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	acked[key] = n
}

// checkWhole reads every object below the prefixes and gives the number each has.
func checkWhole(t *testing.T, b objstore.Bucket, prefixes ...string) map[string]int {
	t.Helper()
	have := map[string]int{}
	for _, prefix := range prefixes {
		for _, key := range keys(t, b, prefix) {
			data, _, err := objstore.Read(t.Context(), b, key, 0, -1)
			if errors.Is(err, objstore.ErrNotExist) && strings.HasPrefix(key, "brief/") {
				continue // deleted since it was listed
			}
			n, torn := numberOf(key, data)
			if err = errors.Join(err, torn); err != nil {
				t.Error(err)
			}
			have[key] = n
		}
	}
	return have
}
