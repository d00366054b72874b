package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/pkg/api"
)

const apiHead = `# The REST API
` + notice + `
The whole contract is [` + "`pkg/api/openapi.yaml`" + `](../../pkg/api/openapi.yaml); a running daemon serves it at
` + "`/v1/openapi.json`" + `. [` + "`pkg/client`" + `](../../pkg/client) is its client for Go.
Generators make clients for other languages: ` + "`make test-client`" + ` does so for TypeScript and runs [one](../../scripts/client/smoke.ts) against a real server.

| call | path under ` + "`/v1`" + ` | token | what it does |
|---|---|---|---|
`

// document is the part of the OpenAPI document that the index shows.
type document struct {
	Security []map[string]any                      `json:"security"`
	Paths    map[string]map[string]json.RawMessage `json:"paths"`
}

type operation struct {
	Summary  string            `json:"summary"`
	Security *[]map[string]any `json:"security"` // nil: as the whole document
}

// addAPI writes the index of the API's calls.
func addAPI(out files) error {
	var d document
	if err := json.Unmarshal(api.OpenAPI(), &d); err != nil {
		return fmt.Errorf("reading the OpenAPI document: %w", err)
	}
	b := bytes.NewBufferString(apiHead)
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range []string{"get", "post", "put", "delete"} {
			raw, ok := d.Paths[path][method]
			if !ok {
				continue
			}
			var op operation
			if err := json.Unmarshal(raw, &op); err != nil {
				return fmt.Errorf("%s %s: %w", method, path, err)
			}
			fmt.Fprintf(b, "| %s | `%s` | %s | %s |\n", strings.ToUpper(method), path, tokens(op, d.Security), cell(op.Summary))
		}
	}
	out["docs/reference/api.md"] = b.Bytes()
	return nil
}

// tokens names what a call asks for: "deployToken" reads as "deploy".
func tokens(op operation, security []map[string]any) string {
	if op.Security != nil {
		security = *op.Security
	}
	var roles []string
	for _, choice := range security {
		for _, scheme := range slices.Sorted(maps.Keys(choice)) {
			roles = append(roles, strings.TrimSuffix(scheme, "Token"))
		}
	}
	if len(roles) == 0 {
		return "none"
	}
	return strings.Join(roles, " or ")
}
