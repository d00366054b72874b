package dirstore_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/data/dirstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

const (
	processes = 6
	contested = 40 // keys every process tries to create
	additions = 40 // to the counter, by each process
)

func TestMain(m *testing.M) {
	svctest.Main(m, map[string]svctest.Role{"create": role(create), "count": role(count), "write": role(write)})
}

// role is a process with a directory and an id. It says READY and waits for its
// stdin to end before it begins.
func role(play func(b objstore.Bucket, id string) error) svctest.Role {
	return func(_ context.Context, args []string) error {
		b, err := dirstore.Open(args[0])
		if err != nil {
			return err
		}
		defer b.Close()
		fmt.Println("READY")
		if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
			return err
		}
		return play(b, args[1])
	}
}

// create prints the keys that it created.
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

func count(b objstore.Bucket, _ string) error {
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

// bodyOf is a body that shows its key, its number and whether it is complete.
func bodyOf(key string, n int) string {
	head := fmt.Sprintf("%s %d\n", key, n)
	sum := sha256.Sum256([]byte(head))
	return head + strings.Repeat(fmt.Sprintf("%x\n", sum), 100+n%500)
}

// numberOf is the number that a complete object was written with.
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

// spawn starts processes that wait until start is called.
func spawn(t *testing.T, role, dir string, n int) (all []*svctest.Process, start func()) {
	t.Helper()
	for i := range n {
		all = append(all, svctest.Start(t, role, dir, strconv.Itoa(i)))
	}
	for _, p := range all {
		if !p.Await(t, "READY") {
			t.Fatal(p.Stderr())
		}
	}
	return all, func() {
		for _, p := range all {
			p.CloseStdin()
		}
	}
}

func TestOneProcessCreatesAKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	all, start := spawn(t, "create", dir, processes)
	start()
	b, winners, wins := open(t, dir), map[string]int{}, make([]int, processes)
	for i, p := range all {
		for _, key := range p.Result(t)[1:] {
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
		p.Result(t)
	}
	if data, _, err := objstore.Read(t.Context(), b, "counter", 0, -1); err != nil || string(data) != strconv.Itoa(processes*additions) {
		t.Errorf("counted %s, %v, want %d", data, err, processes*additions)
	}
}

// TestKilledWriters kills writers in the middle of puts, and reads meanwhile and
// afterwards: every object is complete, and acknowledged objects exist.
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
			for n := range 17*round + 5*i + 3 { // a different place each time
				if !p.AwaitLines(t, n+2) {
					t.Fatalf("writer ended: %s", p.Stderr())
				}
				checkWhole(t, b, "hot/", "brief/")
			}
			p.Kill()
			for _, line := range p.Lines()[1:] { // all acknowledgments before the kill
				note(t, acked, line)
			}
			if !p.Killed() {
				t.Error("the writer ended by itself")
			}
		}
		have := checkWhole(t, b, "")
		for key, n := range acked {
			if got, there := have[key]; !there || got < n {
				t.Errorf("round %d: %s was acknowledged with %d, now %d (%v)", round, key, n, got, there)
			}
		}
		mustPut(t, b, "after", "x") // killed processes hold no lock
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
				continue // deleted concurrently
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
