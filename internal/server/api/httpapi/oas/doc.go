// Package oas is the server interface generated from pkg/api/openapi.yaml. Package
// httpapi implements it.
package oas

//go:generate go -C ../../../../.. tool -modfile=internal/tools/go.mod oapi-codegen -config internal/server/api/httpapi/oas/oapi-server.yaml pkg/api/openapi.yaml
