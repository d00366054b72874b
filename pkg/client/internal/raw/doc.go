// Package raw is the HTTP client generated from pkg/api/openapi.yaml: one
// method per operation, which returns the response as it came. Nothing here is
// written by hand; package client gives it timeouts, credentials and errors.
package raw

//go:generate go -C ../../../.. tool -modfile=internal/tools/go.mod oapi-codegen -config pkg/client/internal/raw/oapi-client.yaml pkg/api/openapi.yaml
