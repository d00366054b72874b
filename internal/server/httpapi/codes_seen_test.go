package httpapi_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/routers"

	"github.com/svcctl/svcctl/pkg/api"
)

// seen has the refusals that the tests of this package have met, as "operation code".
var seen = struct {
	sync.Mutex
	pairs map[string]bool
}{pairs: map[string]bool{}}

// recorded notes the refusals of a handler in seen.
func recorded(next http.Handler, routes routers.Router) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := r.Clone(r.Context())
		asked.URL.Scheme, asked.URL.Host = "", "" // the document's server is /v1
		kept := &refusal{ResponseWriter: w}
		next.ServeHTTP(kept, r)
		var p api.Problem
		route, _, err := routes.FindRoute(asked)
		if err != nil || json.Unmarshal(kept.body.Bytes(), &p) != nil {
			return
		}
		seen.Lock()
		defer seen.Unlock()
		seen.pairs[route.Operation.OperationID+" "+p.Code] = true
	})
}

// refusal keeps the body of an error.
type refusal struct {
	http.ResponseWriter
	failed bool
	body   bytes.Buffer
}

func (r *refusal) WriteHeader(status int) {
	r.failed = status >= http.StatusBadRequest
	r.ResponseWriter.WriteHeader(status)
}

func (r *refusal) Write(p []byte) (int, error) {
	if r.failed {
		r.body.Write(p)
	}
	return r.ResponseWriter.Write(p)
}

func (r *refusal) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// unmetFile lists the named codes that no test meets yet.
const unmetFile = "testdata/unmet_codes.txt"

// checkCodes returns what is wrong: a code that a method of the SDK names, and that no test
// has met, unless unmetFile has it; and a line of unmetFile that was met, or is named nowhere.
func checkCodes(named []namedCode) (wrong []string, err error) {
	data, err := os.ReadFile(unmetFile)
	if err != nil {
		return nil, err
	}
	unmet := map[string]bool{}
	for s := bufio.NewScanner(bytes.NewReader(data)); s.Scan(); {
		if line := s.Text(); line != "" && !strings.HasPrefix(line, "#") {
			unmet[line] = true
		}
	}
	for _, n := range named {
		switch met, excused := n.met(), unmet[n.String()]; {
		case !met && !excused:
			wrong = append(wrong, "no test has met "+n.String())
		case met && excused:
			wrong = append(wrong, unmetFile+" has "+n.String()+", which a test has met")
		}
		delete(unmet, n.String())
	}
	for line := range unmet {
		wrong = append(wrong, unmetFile+" has "+line+", which is named nowhere")
	}
	slices.Sort(wrong)
	return wrong, nil
}
