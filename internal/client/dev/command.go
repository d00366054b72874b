package dev

import (
	"maps"
	"slices"

	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/internal/client/watch"
)

// commandRun is what is known of the runs of a build command: a file that the command writes must not
// start it again, and a file that a person saves while it runs must.
type commandRun struct {
	dirs   []string // whose files start the command
	config string   // the project file, which starts it too

	after   map[string]watch.Stamp // of all files, at the end of the last run
	wrote   map[string]watch.Stamp // of the files that changed during the last run
	sums    map[string]sum         // of the files in dirs
	made    map[string]bool        // files in dirs that the command writes
	suspect map[string]bool        // files in dirs that changed during the last run, perhaps by a person
	chain   map[*worker]bool       // workers whose commands led to the last run, with this one
}

// aroundCommand is build.Request.Command.
func (w *worker) aroundCommand(f *project.File, run func() error) error {
	if w.asBuilt && w.command != nil {
		return nil
	}
	first := w.command == nil
	if first {
		w.command = &commandRun{made: map[string]bool{}, chain: map[*worker]bool{w: true}}
	}
	c := w.command
	c.dirs, c.config = f.Build.WatchDirs, f.Path
	look := func() map[string]watch.Stamp {
		return watch.Look(w.root, slices.Concat(w.also, c.dirs, []string{c.config}))
	}
	before := look()
	c.sums = c.contents(before, c.sums)
	err := run()
	c.after = look()
	c.judge(before, first)
	return err
}

// judge finds what changed during a run. A file of a watched directory is the command's if the first
// run creates it, or if it changes in two runs, one after the other. Any other may be what a person saved meanwhile.
func (c *commandRun) judge(before map[string]watch.Stamp, first bool) {
	old, sums := c.suspect, c.contents(c.after, c.sums)
	c.suspect, c.wrote = map[string]bool{}, map[string]watch.Stamp{}
	for _, path := range differ(before, c.after) {
		c.wrote[path] = c.after[path]
		_, was := before[path]
		switch {
		case !within(c.dirs, path), c.made[path], same(c.sums[path], sums[path]):
		case first && !was, old[path]:
			c.made[path] = true
		default:
			c.suspect[path] = true
		}
	}
	c.sums = sums
}

// sinceCommand tells which files changed since the last run of the command and are no work of it, and
// whether they start a build. asBuilt says whether that runs the command.
func (w *worker) sinceCommand() (known []string, starts bool) {
	c := w.command
	now := watch.Look(w.root, slices.Concat(w.also, c.dirs, []string{c.config}))
	var list []string
	chain, runs := map[*worker]bool{w: true}, false
	for _, path := range slices.Concat(differ(c.after, now), slices.Collect(maps.Keys(c.suspect))) {
		by := w.commandOf(path, now[path])
		command := w.problem || path == c.config || within(c.dirs, path)
		if slices.Contains(list, path) || by[w] || !command && !w.reads(path) {
			continue
		}
		maps.Copy(chain, by)
		list, runs = append(list, path), runs || command
	}
	if len(list) == 0 {
		return nil, false
	}
	slices.Sort(list)
	c.after = now // also if the build ends before the command
	if w.asBuilt = !runs; runs {
		c.chain = chain
	}
	return w.shown(list), true
}

// commandOf tells which commands led to the state of a file, if the command of another worker has
// written it; else nil.
func (w *worker) commandOf(path string, now watch.Stamp) map[*worker]bool {
	for _, other := range w.workers {
		if other == w || other.command == nil {
			continue
		}
		if stamp, wrote := other.command.wrote[path]; wrote && stamp == now {
			return other.command.chain
		}
	}
	return nil
}

// include adds files that are watched from now on.
func (c *commandRun) include(files map[string]watch.Stamp) {
	for path, stamp := range files {
		if _, known := c.after[path]; !known {
			c.after[path] = stamp
		}
	}
}

// differ lists the files whose stamps are not equal, or that one of both lacks.
func differ(a, b map[string]watch.Stamp) (paths []string) {
	for path, stamp := range b {
		if old, ok := a[path]; !ok || old != stamp {
			paths = append(paths, path)
		}
	}
	for path := range a {
		if _, ok := b[path]; !ok {
			paths = append(paths, path)
		}
	}
	return paths
}
