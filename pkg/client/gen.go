package client

//go:generate go -C ../.. tool -modfile=internal/tools/go.mod oapi-codegen -config pkg/client/oapi-client.yaml pkg/api/openapi.yaml
