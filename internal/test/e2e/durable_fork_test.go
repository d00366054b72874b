//go:build e2e

package e2e

import (
	"flag"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/pkg/api"
)

var objects = flag.Int("objects", 300, "Durable Objects of TestForkOfManyObjects; from 10,000 on it requires that a fork takes at most twice as long as with ten")

// A fork and a wake of a version with many objects make the files of those that are used, and
// take about as long as with ten objects.
func TestForkOfManyObjects(t *testing.T) {
	t.Parallel()
	const few, dir = 10, "../../../examples/chat"
	d := started(t)
	v1 := d.deploy(dir, "--version", "v1")
	d.speak(v1, 0, few)
	small := d.forks("v1", "small")
	d.speak(v1, few, *objects)
	large := d.forks("v1", "large")
	t.Logf("a fork with %d objects took %s, with %d objects %s (%.1f times); %s", few, small, *objects, large, large.Seconds()/small.Seconds(), loadAverage())
	if *objects >= 10_000 && large > 2*small {
		t.Errorf("a fork with %d objects takes more than twice as long as with %d", *objects, few)
	}

	child := d.ended("chat", "large0")
	d.roomsAre(child)
	d.ok(dir, "versions", "archive", "chat/large0")
	began := time.Now()
	d.ok(dir, "versions", "wake", "chat/large0")
	t.Logf("a wake took %s", time.Since(began))
	d.roomsAre(child)
	if files := d.objectFiles(child); len(files) != 2 {
		t.Errorf("two rooms were opened since the wake, and there are %d files", len(files))
	}
}

// speak posts a message to each room from number first to the one before after.
func (d *daemon) speak(v api.Version, first, after int) {
	var all sync.WaitGroup
	rooms := make(chan int)
	for range 8 {
		all.Go(func() {
			for i := range rooms {
				if a := d.do(http.MethodPost, fmt.Sprintf("%s/room%d", v.PreviewURL, i), "text/plain", "hi"); a.Status != http.StatusOK {
					d.t.Errorf("room %d: %d %s", i, a.Status, a.Body)
				}
			}
		})
	}
	for i := first; i < after; i++ {
		rooms <- i
	}
	close(rooms)
	all.Wait()
}

// forks makes children of a version, and returns the shortest time to a ready one.
func (d *daemon) forks(parent, name string) time.Duration {
	d.t.Helper()
	var took []time.Duration
	for i := range 3 {
		id := fmt.Sprint(name, i)
		began := time.Now()
		d.deploy("../../../examples/chat", "--version", id, "--parent", parent)
		took = append(took, time.Since(began))
	}
	return slices.Min(took)
}

// roomsAre checks the first room and the last one.
func (d *daemon) roomsAre(v api.Version) {
	d.t.Helper()
	for _, i := range []int{0, *objects - 1} {
		d.history(v, fmt.Sprint("room", i), `[{"author":"guest","text":"hi"}]`)
	}
}

// objectFiles are the files of Durable Objects of a version, on the disk.
func (d *daemon) objectFiles(v api.Version) (paths []string) {
	d.t.Helper()
	files, err := filepath.Glob(filepath.Join(d.dataDir(), "versions", v.ProjectID, v.ID, "objects", "*", "*.sqlite"))
	if err != nil {
		d.t.Fatal(err)
	}
	for _, path := range files {
		if filepath.Base(path) != "metadata.sqlite" {
			paths = append(paths, path)
		}
	}
	return paths
}
