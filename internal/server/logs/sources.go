package logs

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/svcctl/svcctl/internal/lib/sourcemap"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	maxMap  = 32 << 20 // bytes of a source map that is read
	maxMaps = 8        // parsed maps in memory
)

// frame is a line of a stack: "    at f (index.js:1:2)", "    at index.js:1:2", or "  at index.js:1:2"
// of a module that throws while it is loaded.
var frame = regexp.MustCompile(`(?m)^(\s+at (?:async )?(?:.*\()?)(?:file:///bundle/)?([^\s():]+):(\d+):(\d+)(\)?)$`)

// sources replaces places of built modules by those of their sources. It is safe for
// concurrent use.
type sources struct {
	bundle func(svc.Ref) string // directory of a version's unpacked bundle

	mu    sync.Mutex // guards what follows
	maps  map[string]*sourcemap.Map
	order []string // of maps, oldest first
}

// apply returns text with the frames of its stacks mapped. A frame of a module without a
// source map stays.
func (s *sources) apply(ref svc.Ref, text string) string {
	text, _ = s.applyTo(ref, text)
	return text
}

// applyTo is apply, and the first place that was mapped; its Line is 0 for none.
func (s *sources) applyTo(ref svc.Ref, text string) (mapped string, first sourcemap.Position) {
	if !strings.Contains(text, " at ") {
		return text, first
	}
	mapped = frame.ReplaceAllStringFunc(text, func(line string) string {
		m := frame.FindStringSubmatch(line)
		at, ok := s.source(ref, m[2], m[3], m[4])
		if !ok {
			return line
		}
		if first.Line == 0 {
			first = at
		}
		return m[1] + shown(at) + m[5]
	})
	return mapped, first
}

// place is a place in a built module within a text.
var place = regexp.MustCompile(`(?:file:///bundle/)?([\w./-]+\.m?js):(\d+):(\d+)`)

// places is apply for a text that is no stack, such as the error of a deploy: every place in it is mapped.
func (s *sources) places(ref svc.Ref, text string) string {
	return place.ReplaceAllStringFunc(text, func(found string) string {
		m := place.FindStringSubmatch(found)
		if at, ok := s.source(ref, m[1], m[2], m[3]); ok {
			return shown(at)
		}
		return found
	})
}

// source is the place in a source of a place in a module.
func (s *sources) source(ref svc.Ref, module, line, column string) (at sourcemap.Position, ok bool) {
	number, _ := strconv.Atoi(line) // the patterns have digits only
	from, _ := strconv.Atoi(column)
	known := s.of(ref, module)
	if known == nil {
		return at, false
	}
	if at, ok = known.Find(number, from); ok {
		at.Source = path.Clean(at.Source)
	}
	return at, ok
}

func shown(at sourcemap.Position) string {
	return at.Source + ":" + strconv.Itoa(at.Line) + ":" + strconv.Itoa(at.Column)
}

// of returns the source map of a module, nil if it has none.
func (s *sources) of(ref svc.Ref, module string) *sourcemap.Map {
	if !filepath.IsLocal(module) { // a worker can print any text
		return nil
	}
	file := filepath.Join(s.bundle(ref), "sourcemaps", filepath.FromSlash(module)+".map")
	s.mu.Lock()
	defer s.mu.Unlock()
	if m, ok := s.maps[file]; ok {
		return m
	}
	m := readMap(file)
	if len(s.order) == maxMaps {
		delete(s.maps, s.order[0])
		s.order = s.order[1:]
	}
	s.maps[file] = m
	s.order = append(s.order, file)
	return m
}

// readMap reads a source map. Without a readable one the frames stay as the worker has them.
func readMap(file string) *sourcemap.Map {
	info, err := os.Stat(file)
	if err != nil || info.Size() > maxMap {
		return nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	m, err := sourcemap.Parse(data)
	if err != nil {
		return nil
	}
	return m
}
