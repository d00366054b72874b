// Package httpapi is the REST API of the control plane: /v1 and /metrics, spoken
// as pkg/api/openapi.yaml says.
//
// A request passes, in this order: request id, access log and metrics, recovery
// from panics, path and method, token and role, query, body, and only then the
// handler of its operation. So a caller without the right token learns nothing
// about the rest of its request. Handlers return a value or an error and never
// write one: problem.go is the only place that turns errors into answers, and
// what it writes holds details for people, never causes or secrets.
//
// The content type of a request is not looked at: a body is JSON or it is
// refused. (There are no cookies here, so nothing rides on it.)
//
// Ownership: Server starts nothing and holds nothing that must be closed.
// Concurrency: a Server serves any number of requests at once.
// spec: Endpoints, Authentication, Errors, Limits.
package httpapi
