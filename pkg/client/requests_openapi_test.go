package client_test

import (
	"io"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"

	"github.com/svcctl/svcctl/pkg/api"
)

// document is the OpenAPI document.
type document struct{ routers.Router }

func openDocument(t *testing.T) document {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(api.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	router, err := legacy.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	return document{router}
}

// check fails the test unless the document has the operation, its parameters and its body.
func (d document) check(t *testing.T, method string, sent sentRequest) {
	t.Helper()
	asked := sent.Clone(t.Context())
	asked.URL.Scheme, asked.URL.Host = "", "" // the document's server is /v1
	asked.URL.Path = strings.TrimPrefix(asked.URL.Path, "/below")
	asked.Body = io.NopCloser(strings.NewReader(sent.body))
	route, names, err := d.FindRoute(asked)
	if err != nil {
		t.Errorf("%s: the document has no %s %s: %v", method, sent.Method, sent.URL.Path, err)
		return
	}
	declared := func(in, name string) bool {
		return route.Operation.Parameters.GetByInAndName(in, name) != nil || route.PathItem.Parameters.GetByInAndName(in, name) != nil
	}
	for name := range asked.URL.Query() {
		if !declared("query", name) {
			t.Errorf("%s: the document has no parameter %s of %s", method, name, route.Operation.OperationID)
		}
	}
	for name := range asked.Header {
		own := strings.HasPrefix(name, "Svc-") && name != "Svc-Actor" || name == "If-Match" || name == "Idempotency-Key"
		if own && !declared("header", name) {
			t.Errorf("%s: the document has no header %s of %s", method, name, route.Operation.OperationID)
		}
	}
	in := &openapi3filter.RequestValidationInput{
		Request: asked, PathParams: names, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc},
	}
	if err := openapi3filter.ValidateRequest(t.Context(), in); err != nil {
		t.Errorf("%s: %v", method, err)
	}
}
