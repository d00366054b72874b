package httpapi

import "github.com/svcctl/svcctl/pkg/api"

// ruleOf returns the rule of an operation. Operations that are not listed require
// the admin token and have no body. spec: [C15.2] [C15.3] [C15.7] [C15.8] [C15.9].
func ruleOf(pattern string) rule {
	switch pattern {
	case "GET /v1/health", "GET /v1/health/deep", "GET /v1/openapi.json", "GET /metrics":
		return rule{role: roleNone}
	case "PUT /v1/uploads/{ticket}", "PUT /v1/uploads/{ticket}/assets": // the ticket is the credential [D11]
		return rule{role: roleNone}
	case "POST /v1/uploads/{ticket}/assets":
		return rule{role: roleNone, body: object[api.AnnounceAssets], scale: 8}
	case "GET /v1/whoami":
		return rule{role: roleAny}
	case "POST /v1/dashboard/tickets": // the session has the role of the token
		return rule{role: roleAdmin, reads: true}
	case "POST /v1/projects":
		return rule{role: roleAdmin, body: object[api.CreateProject]}
	case "PATCH /v1/projects/{project}":
		return rule{role: roleAdmin, body: object[api.ChangeProject]}
	case "POST /v1/projects/{project}/versions":
		return rule{role: roleDeploy, body: createVersionBody}
	case "POST /v1/projects/{project}/versions:archive", "POST /v1/projects/{project}/versions:destroy":
		return rule{role: roleAdmin, body: object[api.BulkVersions]}
	case "DELETE /v1/projects/{project}":
		return rule{role: roleAdmin, query: []string{"production"}}
	case "GET " + versionRoute:
		return rule{role: roleAdmin, ticket: true}
	case "PUT " + versionRoute + "/env":
		return rule{role: roleAdmin, body: setEnvBody}
	case "GET /v1/webhooks": // an address of a chat is a secret
		return rule{role: roleAdmin, query: []string{"project"}, private: true}
	case "GET /v1/webhooks/{webhook}/deliveries":
		return rule{role: roleAdmin, query: []string{"limit", "cursor"}, private: true}
	case "POST /v1/webhooks":
		return rule{role: roleAdmin, body: object[api.CreateWebhook]}
	case "PATCH " + secretsRoute:
		return rule{role: roleAdmin, body: object[api.ChangeSecrets], scale: 2}
	case "PUT " + secretsRoute + "/{secret}":
		return rule{role: roleAdmin, body: object[api.PutSecret]}
	case "DELETE " + secretsRoute + "/{secret}", "POST " + secretsRoute + "/{secret}/rollback":
		return rule{role: roleAdmin, query: []string{"class"}}
	case "POST " + versionRoute + "/promote":
		return rule{role: roleAdmin, body: object[api.PromoteVersion], bodyOptional: true}
	case "POST " + versionRoute + "/scheduled":
		return rule{role: roleAdmin, body: object[api.TriggerScheduled], bodyOptional: true}
	case "GET " + versionRoute + "/database/tables/{table}/rows",
		"GET " + versionRoute + "/kv/{namespace}/keys",
		"GET " + versionRoute + "/objects/{bucket}",
		"GET " + versionRoute + "/emails",
		"GET " + versionRoute + "/crons/runs":
		return rule{role: roleAdmin, limit: maxDataLimit}
	case "GET " + versionRoute + "/workflows/{workflow}/instances":
		return rule{role: roleAdmin, limit: maxDataLimit}
	case "POST " + versionRoute + "/workflows/{workflow}/instances":
		return rule{role: roleAdmin, body: object[api.CreateWorkflowInstance], bodyOptional: true}
	case "GET " + versionRoute + "/logs", "GET /v1/projects/{project}/logs":
		return rule{role: roleAdmin, query: logParameters}
	case "GET /v1/server/log": // it may say more than records do
		return rule{role: roleAdmin, query: serverLogParameters, private: true}
	case "GET /v1/server/leases":
		return rule{role: roleAdmin, query: []string{"project", "limit", "cursor"}}
	case "GET /v1/versions":
		return rule{role: roleAdmin, query: searchParameters}
	case "GET /v1/projects/{project}/compare", "GET /v1/projects/{project}/compare/data":
		return rule{role: roleAdmin, query: []string{"from", "to"}}
	case "GET " + versionRoute + "/data/export":
		return rule{role: roleAdmin, query: []string{"since_cut", "against"}, private: true}
	case "GET " + versionRoute + "/data/diff":
		return rule{role: roleAdmin, query: []string{"with", "rows", "database", "table", "full"}, private: true, ticket: true}
	case "GET /v1/metrics/summary":
		return rule{role: roleAdmin, query: []string{"window"}}
	case "GET /v1/events":
		return rule{role: roleAdmin, query: feedParameters}
	case "POST " + versionRoute + "/queues/{queue}/messages":
		return rule{role: roleAdmin, body: object[api.NewMessage]}
	case "POST " + versionRoute + "/queues/{queue}/redrive":
		return rule{role: roleAdmin, body: object[api.RedriveQueue], bodyOptional: true}
	case "POST " + versionRoute + "/analytics/query":
		return rule{role: roleAdmin, body: object[api.AnalyticsQuery]}
	case "POST " + versionRoute + "/database/query":
		return rule{role: roleAdmin, body: object[api.DatabaseQuery]}
	}
	return rule{role: roleAdmin}
}
