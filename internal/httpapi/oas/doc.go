// Package oas holds the server interface generated from pkg/api/openapi.yaml.
// Nothing here is written by hand: internal/httpapi implements it.
package oas

//go:generate go -C ../../.. tool -modfile=internal/tools/go.mod oapi-codegen -config internal/httpapi/oas/oapi-server.yaml pkg/api/openapi.yaml
