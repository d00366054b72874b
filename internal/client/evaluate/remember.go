package evaluate

import (
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// kept is a result and the files that it holds for.
type kept struct {
	result  Result
	environ []string
	files   []stamp
}

type stamp struct {
	path string
	size int64
	at   time.Time
}

// results are those of this process: a command reads its project file several times.
//
//nolint:gochecknoglobals // a cache of the process
var results sync.Map // from the key of a request to kept

func key(req Request) string {
	preview := ""
	if req.Preview {
		preview = "preview"
	}
	return strings.Join([]string{req.File, req.Tooling, req.Mode, preview}, "\x00")
}

// remembered is the result of an earlier evaluation, if nothing that it depends on has changed.
func remembered(req Request) (Result, bool) {
	v, ok := results.Load(key(req))
	if !ok {
		return Result{}, false
	}
	k, ok := v.(kept)
	if !ok || !slices.Equal(k.environ, req.Environ) || !slices.Equal(k.files, stamps(k.result.Inputs)) {
		return Result{}, false
	}
	return k.result, true
}

func remember(req Request, r Result) {
	results.Store(key(req), kept{r, req.Environ, stamps(r.Inputs)})
}

func stamps(files []string) (list []stamp) {
	for _, path := range files {
		s := stamp{path: path}
		if info, err := os.Stat(path); err == nil { // a file that is gone differs from what it was
			s.size, s.at = info.Size(), info.ModTime()
		}
		list = append(list, s)
	}
	return list
}
