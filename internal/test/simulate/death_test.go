//go:build simulate

package simulate

import (
	"os"
	"path/filepath"
)

// The ways of a process to end.
const (
	exit    = ""        // it stops, or is killed: the next process finds its files
	lost    = "machine" // the machine is lost with its disk
	noPower = "power"   // the machine boots again
)

// kill ends a process. What it has sent may still arrive. Its files are copied as the kernel has them,
// because the code of the dead process still closes those that it has.
func (w *world) kill(p *process, how string) {
	if p.dead {
		return
	}
	w.mu.Lock()
	p.dead = true
	close(p.killed)
	w.mu.Unlock()
	w.trace.add("kill %s %s", p.name, how)
	v := p.version
	if v == nil {
		return
	}
	w.stats["deaths"]++
	if v.newest == p {
		v.newest = nil
	}
	if v.dirs[p.machine.name] == p.dir {
		v.dirs[p.machine.name] = w.filesAfter(p.dir, how)
	}
	if how != exit {
		w.loosen(v)
	}
	if p.volumes != nil {
		w.task(func() { _ = p.volumes.Close() })
	}
}

// filesAfter is the directory in which the next process of the machine finds its files; "" for none.
func (w *world) filesAfter(dir, how string) string {
	if how == lost {
		return ""
	}
	next := w.newDir()
	if _, err := os.Stat(dir); err != nil {
		return next
	}
	if err := os.CopyFS(next, os.DirFS(dir)); err != nil {
		w.violate("simulator", "copy files: %v", err)
	}
	if how == noPower {
		if err := os.WriteFile(filepath.Join(next, "boot"), []byte("another boot"), 0o600); err != nil {
			w.violate("simulator", "mark files: %v", err)
		}
	}
	return next
}

// reap ends the processes that have found out that they must stop.
func (w *world) reap() {
	for _, v := range w.versions {
		for _, p := range v.processes {
			if p.stopping && !p.dead {
				w.kill(p, exit)
			}
		}
	}
}
