package httpapi_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"

	"github.com/svcctl/svcctl/pkg/api"
)

// success stands in seen for the code of an operation that succeeded.
const success = "success"

// seen has what the tests of this package have met, as "operation code".
var seen = struct {
	sync.Mutex
	pairs map[string]bool
}{pairs: map[string]bool{}}

// recorded notes the refusals and successes of a handler in seen.
func recorded(next http.Handler, routes routers.Router) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := r.Clone(r.Context())
		asked.URL.Scheme, asked.URL.Host = "", "" // the document's server is /v1
		kept := &refusal{ResponseWriter: w}
		next.ServeHTTP(kept, r)
		p := api.Problem{Code: success}
		route, _, err := routes.FindRoute(asked)
		if err != nil || kept.failed && json.Unmarshal(kept.body.Bytes(), &p) != nil {
			return
		}
		seen.Lock()
		defer seen.Unlock()
		seen.pairs[route.Operation.OperationID+" "+p.Code] = true
	})
}

// operations returns the ids of the operations of the document by their methods and paths.
func operations() (map[string]string, error) {
	doc, err := openapi3.NewLoader().LoadFromData(api.OpenAPI())
	if err != nil {
		return nil, err
	}
	ids := map[string]string{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			ids[method+" "+path] = op.OperationID
		}
	}
	return ids, nil
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

// unmet returns the codes that a method of the SDK names, and the operations whose success,
// that no test has met.
func unmet() (lines []string, err error) {
	known, err := operations()
	if err != nil {
		return nil, err
	}
	named, err := namedCodes(known)
	for _, op := range known {
		named = append(named, namedCode{method: op, operations: []string{op}, code: success})
	}
	for _, n := range named {
		if !n.met() {
			lines = append(lines, "no test has met "+n.String())
		}
	}
	slices.Sort(lines)
	return lines, err
}
