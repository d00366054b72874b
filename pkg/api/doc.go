// Package api is the contract of the control plane's REST API: openapi.yaml,
// the source of truth, and the types generated from it. It has no behaviour
// beyond reading and writing JSON and compiles for a stranger: it imports the
// standard library only.
//
// The server interface in internal/server/api/httpapi/oas is made from the same document,
// and tests hold the requests of pkg/client against it. docs: the service contract,
// Endpoints.
package api

//go:generate go -C ../.. tool -modfile=internal/tools/go.mod oapi-codegen -config pkg/api/oapi-types.yaml pkg/api/openapi.yaml
//go:generate go -C ../../internal/tools run ./yamljson ../../pkg/api/openapi.yaml ../../pkg/api/openapi.json
