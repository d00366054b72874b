package api

import _ "embed" // the document

//go:embed openapi.json
var openapiJSON []byte

// OpenAPI returns openapi.yaml as JSON. The caller owns the copy.
func OpenAPI() []byte { return append([]byte(nil), openapiJSON...) }
