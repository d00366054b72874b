// Package httpapi is the REST API of the daemon: /v1 and /metrics, as defined in
// pkg/api/openapi.yaml.
//
// A request passes, in this order: request id, access log and metrics, recovery
// from panics, host name, path and method, token and role, query, body, and then
// the handler of its operation. A client without the right token therefore gets no
// information about the rest of its request. Handlers return a value or an error;
// problem.go alone turns errors into responses, which never hold causes or secrets.
//
// The content type of a request is ignored: every body must be JSON. This is safe
// because the API has no cookies. Requests of browsers for the dashboard's pages pass the
// host name's check and go to Deps.Pages; those below /v1 never do.
//
// The package calls the services of the server through the interfaces in
// services.go, which package daemon implements with them. It imports pkg/api for the
// wire types and package oas for the generated handlers.
//
// A Server starts nothing, owns nothing that must be closed, and is safe for
// concurrent use.
// spec: [C11.1] to [C15.9].
package httpapi
