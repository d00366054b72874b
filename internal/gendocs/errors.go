package main

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/server/api/httpapi"
	"github.com/svcctl/svcctl/internal/svc"
)

const errorsHead = `# Error codes
` + notice + `
Every error has a code. The API answers with a problem document (RFC 9457) whose ` + "`code`" + ` is stable and meant for
programs; ` + "`detail`, `hint` and `errors[]`" + ` say what happened in this case. The gateway sends the code of its own errors in
the header ` + "`Svc-Error`" + `. A failed deploy has the code in the version's ` + "`error`" + `, and ` + "`svcctl -o json`" + ` prints it.

The kind decides the HTTP status of an API error:

| kind | HTTP status |
|---|---|
`

const codesHead = `
A code without a kind is a finding of an audit, or printed by the command line only, unless its meaning names a status.

| code | kind | meaning | what to do |
|---|---|---|---|
`

// addErrors writes the reference of the error codes.
func addErrors(out files) error {
	b := bytes.NewBufferString(errorsHead)
	codes := svc.Codes()
	for _, k := range kinds(codes) {
		fmt.Fprintf(b, "| %s | %d |\n", k, httpapi.StatusOf(k))
	}
	b.WriteString(codesHead)
	for _, c := range codes {
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", c.Code, joined(c.Kinds), cell(c.Meaning), cell(c.Remedy))
	}
	out["docs/reference/errors.md"] = b.Bytes()
	return nil
}

// kinds are those of all codes, by status.
func kinds(codes []svc.CodeInfo) []svc.Kind {
	var all []svc.Kind
	for _, c := range codes {
		all = append(all, c.Kinds...)
	}
	slices.SortFunc(all, func(a, b svc.Kind) int { return cmp.Compare(httpapi.StatusOf(a), httpapi.StatusOf(b)) })
	return slices.Compact(all)
}

func joined(kinds []svc.Kind) string {
	var text []string
	for _, k := range kinds {
		text = append(text, string(k))
	}
	return strings.Join(text, ", ")
}
