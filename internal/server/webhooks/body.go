package webhooks

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// message is the body of the format standard.
type message struct {
	Type      string `json:"type"`
	Timestamp string `json:"timestamp"`
	Data      data   `json:"data"`
}

type data struct {
	Text      string `json:"text"`
	EventID   int64  `json:"event_id,omitempty"`
	Project   string `json:"project_id,omitempty"`
	Version   string `json:"version_id,omitempty"`
	Status    string `json:"status,omitempty"`
	Previous  string `json:"previous,omitempty"`
	Detail    string `json:"detail,omitempty"`
	Error     string `json:"error,omitempty"`
	Operation string `json:"operation_id,omitempty"`
	GitRef    string `json:"git_ref,omitempty"`
	Restarts  int    `json:"restarts,omitempty"`
}

// bodyOf is the body of an event in the format of a webhook.
func bodyOf(format svc.WebhookFormat, kind string, e svc.FeedEvent) string {
	sentence := sentenceOf(kind, e)
	var body any
	switch format {
	case svc.WebhookSlack:
		body = map[string]string{"text": strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(sentence)}
	case svc.WebhookDiscord:
		body = map[string]any{"content": sentence, "allowed_mentions": map[string][]string{"parse": {}}}
	case svc.WebhookStandard:
		body = message{Type: kind, Timestamp: e.Time.UTC().Format(time.RFC3339Nano), Data: data{
			Text: sentence, EventID: e.ID, Project: e.Project, Version: e.Version, Status: e.Data.Status, Previous: e.Data.Previous, Detail: e.Data.Detail,
			Error: e.Data.Error, Operation: e.Data.Operation, GitRef: e.Data.GitRef, Restarts: e.Data.Restarts,
		}}
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		panic(err) // texts and numbers
	}
	return string(encoded)
}

// sentenceOf says in one line what happened.
func sentenceOf(kind string, e svc.FeedEvent) string {
	if kind == svc.WebhookTest {
		return "svcctl: this is a test of a webhook"
	}
	about, said := e.Sentence()
	if strings.HasPrefix(kind, "rollback.") {
		said = "(rollback) " + said
	}
	return strings.Join(strings.Fields(about+" "+said), " ")
}
