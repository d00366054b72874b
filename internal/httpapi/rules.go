package httpapi

import (
	"net/http"

	"github.com/svcctl/svcctl/pkg/api"
)

// ruleOf is the table of who may call what, and with which body. What is not
// named needs the admin token and has no body. spec: Authentication.
func ruleOf(pattern string) rule {
	switch pattern {
	case "GET /v1/health", "GET /v1/health/deep", "GET /v1/openapi.json", "GET /metrics":
		return rule{role: roleNone}
	case "PUT /v1/uploads/{ticket}": // the ticket is the credential [D11]
		return rule{role: roleNone}
	case "POST /v1/projects":
		return rule{role: roleAdmin, body: object[api.CreateProject]}
	case "POST /v1/projects/{project}/versions":
		return rule{role: roleDeploy, body: createVersionBody}
	case "POST /v1/projects/{project}/versions/{version}/promote":
		return rule{role: roleAdmin, body: object[api.PromoteVersion], bodyOptional: true}
	case "GET /v1/projects/{project}/versions/{version}/database/tables/{table}/rows",
		"GET /v1/projects/{project}/versions/{version}/kv/{namespace}/keys",
		"GET /v1/projects/{project}/versions/{version}/objects/{bucket}":
		return rule{role: roleAdmin, limit: maxDataLimit}
	case "POST /v1/projects/{project}/versions/{version}/database/query":
		return rule{role: roleAdmin, body: object[api.DatabaseQuery]}
	}
	return rule{role: roleAdmin}
}

// laterEndpoints are the operations of the contract that this version does not
// offer yet, with the name of the capability that brings them.
func laterEndpoints() map[string]string {
	const version = "/v1/projects/{project}/versions/{version}"
	later := map[string]string{
		"GET " + version + "/env": "reading and changing the environment of a version",
		"PUT " + version + "/env": "reading and changing the environment of a version",
	}
	const data = "reading the data of a version"
	for _, p := range []string{"queues", "workflows"} {
		later["GET "+version+"/"+p] = data
	}
	for _, p := range []string{version + "/queues/{rest...}", version + "/workflows/{rest...}"} {
		later[p] = data
	}
	return later
}

// notYet is an operation of the contract that comes with a later version.
type notYet struct{ what string }

func (e notYet) Error() string { return e.what + " is not part of this version yet" }

func (s *Server) later(what string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { s.fail(w, r, notYet{what}) }
}
