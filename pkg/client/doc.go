// Package client is the Go SDK of the svcctl control plane.
//
//	c, err := client.New("http://127.0.0.1:8790", client.Tokens{Deploy: d, Admin: a}, client.Options{})
//	accepted, err := c.CreateVersion(ctx, "shop", api.CreateVersion{Upload: true}, "")
//	err = c.Upload(ctx, *accepted.Upload, file, nil)
//	v, err := c.Wait(ctx, "shop", accepted.ID, nil)
//
// A Client is safe for concurrent use and owns nothing that must be closed.
// Every failure is one of three: *Error (the service refused), ErrUnreachable
// (it did not answer), or the context's own error. Wait adds *VersionError.
//
// It compiles for a stranger: it imports pkg/api and no internal package.
package client

//go:generate go -C ../.. tool -modfile=internal/tools/go.mod oapi-codegen -config pkg/client/oapi-client.yaml pkg/api/openapi.yaml
