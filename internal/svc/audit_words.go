package svc

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// deed says what an operation of the API does: as an attempt, as done, and to what. %s is the project,
// or the project and the version.
type deed struct{ try, done, what string }

// deeds has the operations that change something, by operation id.
func deeds() map[string]deed {
	return map[string]deed{
		"createProject": {"create", "created", "the project %s"}, "changeProject": {"change", "changed", "the settings of %s"},
		"deleteProject": {"delete", "deleted", "the project %s"}, "createVersion": {"deploy", "deployed", "%s"},
		"archiveVersion": {"archive", "archived", "%s"}, "wakeVersion": {"wake", "woke", "%s"}, "destroyVersion": {"destroy", "destroyed", "%s"},
		"archiveVersions": {"archive", "archived", "versions of %s"}, "destroyVersions": {"destroy", "destroyed", "versions of %s"},
		"pinVersion": {"pin", "pinned", "%s"}, "unpinVersion": {"unpin", "unpinned", "%s"},
		"promoteVersion": {"promote", "promoted", "%s"}, "releaseVersion": {"release", "released", "%s"},
		"addDomain": {"add", "added", "a domain of %s"}, "verifyDomain": {"verify", "verified", "a domain of %s"}, "removeDomain": {"remove", "removed", "a domain of %s"},
		"deletePreview": {"delete", "deleted", "a preview of %s"}, "setEnv": {"change", "changed", "the variables of %s"},
		"putSecret": {"set", "set", "a secret of %s"}, "deleteSecret": {"delete", "deleted", "a secret of %s"}, "changeSecrets": {"change", "changed", "secrets of %s"},
		"rollbackSecret": {"roll back", "rolled back", "a secret of %s"}, "resealSecrets": {"seal", "sealed", "all secrets with the current key"},
		"createWebhook": {"add", "added", "a webhook"}, "deleteWebhook": {"remove", "removed", "a webhook"}, "testWebhook": {"test", "tested", "a webhook"},
		"rotateWebhook": {"change", "changed", "the secret of a webhook"}, "replayDelivery": {"send again", "sent again", "an event to a webhook"},
		"triggerScheduled": {"start", "started", "a cron of %s"}, "createDashboardTicket": {"open", "opened", "the dashboard"},
		"queryDatabase": {"change", "changed", "a database of %s"}, "importDatabase": {"import into", "imported into", "a database of %s"},
		"queryAnalytics": {"query", "queried", "the analytics of %s"},
		"putValue":       {"store", "stored", "a key of %s"}, "deleteValue": {"delete", "deleted", "a key of %s"},
		"putObject": {"store", "stored", "an object of %s"}, "deleteObject": {"delete", "deleted", "an object of %s"},
		"sendMessage": {"send", "sent", "a message to %s"}, "pauseQueue": {"pause", "paused", "a queue of %s"}, "resumeQueue": {"resume", "resumed", "a queue of %s"},
		"redriveQueue": {"redeliver", "redelivered", "dead messages of %s"}, "purgeQueue": {"empty", "emptied", "a queue of %s"},
		"createWorkflowInstance": {"start", "started", "a workflow of %s"}, "pauseWorkflowInstance": {"pause", "paused", "a workflow of %s"},
		"resumeWorkflowInstance": {"resume", "resumed", "a workflow of %s"}, "terminateWorkflowInstance": {"terminate", "terminated", "a workflow of %s"},
		"collectGarbage": {"sweep", "swept", "the object store"}, "auditStorage": {"check", "checked", "the object store"},
		"applyRetention": {"apply", "applied", "the rules of retention"}, "putUpload": {"upload", "uploaded", "the bundle of %s"},
		"announceAssets": {"announce", "announced", "static files of %s"}, "putAssets": {"upload", "uploaded", "static files of %s"},
	}
}

// AuditSentence says in words what a client did, or tried to do. status is the HTTP status of the
// answer; 0 for a server that ended before it.
func AuditSentence(action, project, version string, status int) string {
	target := strings.TrimSuffix(project+"/"+version, "/")
	d, ok := deeds()[action]
	if !ok { // of a newer server
		d = deed{"do", "did", action + " of %s"}
	}
	if strings.Contains(d.what, "%s") {
		d.what = fmt.Sprintf(d.what, cmp.Or(target, "the server"))
	}
	switch {
	case status == 0:
		return d.done + " " + d.what + ", and the server ended before it answered"
	case status < http.StatusBadRequest:
		return d.done + " " + d.what
	}
	return "tried to " + d.try + " " + d.what + ": " + refusal(status)
}

// refusal is a status of HTTP in words.
func refusal(status int) string {
	return strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
}

// announced reports whether an event of its own says what an operation did.
func announced(action string) bool {
	switch action {
	case "createProject", "deleteProject", "createVersion", "archiveVersion", "archiveVersions", "wakeVersion", "destroyVersion", "destroyVersions",
		"pinVersion", "unpinVersion", "promoteVersion", "releaseVersion", "setEnv", "collectGarbage", "putUpload", "announceAssets", "putAssets":
		return true
	}
	return false
}

// ofAudit is Sentence for a record of the audit. What another event says is not said twice.
func (e FeedEvent) ofAudit() (about, said string) {
	about = cmp.Or(e.Data.Actor, "a client")
	status, _ := strconv.Atoi(e.Data.Status) // the registry writes a number
	if status < http.StatusBadRequest && announced(e.Data.Action) {
		return about, ""
	}
	return about, AuditSentence(e.Data.Action, e.Project, e.Version, status) + within(" (", e.Data.Detail, ")")
}
