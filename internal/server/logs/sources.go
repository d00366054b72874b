package logs

import (
	"cmp"
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
	if !strings.Contains(text, " at ") {
		return text
	}
	return frame.ReplaceAllStringFunc(text, func(line string) string {
		m := frame.FindStringSubmatch(line)
		at := s.source(ref, m[2], m[3], m[4])
		if at == "" {
			return line
		}
		return m[1] + at + m[5]
	})
}

// place is a place in a built module within a text.
var place = regexp.MustCompile(`(?:file:///bundle/)?([\w./-]+\.m?js):(\d+):(\d+)`)

// places is apply for a text that is no stack, such as the error of a deploy: every place in it is mapped.
func (s *sources) places(ref svc.Ref, text string) string {
	return place.ReplaceAllStringFunc(text, func(found string) string {
		m := place.FindStringSubmatch(found)
		return cmp.Or(s.source(ref, m[1], m[2], m[3]), found)
	})
}

// source is the place in a source of a place in a module; "" if that is not known.
func (s *sources) source(ref svc.Ref, module, line, column string) string {
	number, _ := strconv.Atoi(line) // the patterns have digits only
	from, _ := strconv.Atoi(column)
	known := s.of(ref, module)
	if known == nil {
		return ""
	}
	at, ok := known.Find(number, from)
	if !ok {
		return ""
	}
	return path.Clean(at.Source) + ":" + strconv.Itoa(at.Line) + ":" + strconv.Itoa(at.Column)
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
