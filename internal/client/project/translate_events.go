package project

import (
	"fmt"

	"github.com/svcctl/svcctl/internal/svc"
)

// triggers translates what starts the worker.
func (t translation) triggers(m member) {
	if !t.r.is(m.val, m.key, kindArray) {
		return
	}
	for i, item := range m.val.items {
		at := fmt.Sprintf("triggers[%d]", i)
		if t.r.is(item, at, kindObject) {
			t.trigger(at, item)
		}
	}
}

func (t translation) trigger(at string, n *node) {
	switch kind := t.r.text(n.get("type"), at+".type"); kind {
	case "scheduled":
		if s := n.get("schedule"); s != nil {
			t.append("triggers.crons", s, at+".schedule")
		}
	case "queue":
		t.append("queues.consumers", t.object(at, n, fields{
			"type": "", "name": "queue", "deadLetterQueue": "dead_letter_queue", "maxBatchSize": "max_batch_size", "maxBatchTimeout": "max_batch_timeout",
			"maxConcurrency": "max_concurrency", "maxRetries": "max_retries", "retryDelay": "retry_delay", "visibilityTimeoutMs": "visibility_timeout_ms",
		}), at)
	case "fetch":
		t.append("routes", n, at)
	case "email":
		t.append("addresses", n, at)
	case "connect":
		t.append("connect", n, at)
	default:
		t.r.problem(svc.CodeConfigUnsupported, at, n.pos, "%s is of the type %q, which is not supported", at, kind)
	}
}

// exports translates what is said of the worker's classes.
func (t translation) exports(m member) {
	if !t.r.is(m.val, m.key, kindObject) {
		return
	}
	out := &node{kind: kindObject, pos: m.val.pos}
	for _, e := range m.val.members {
		at := "exports." + e.key
		out.members = append(out.members, member{e.key, e.pos, t.object(at, e.val, fields{
			"type": "type", "state": "state", "storage": "storage", "container": "container", "renamedTo": "renamed_to", "transferredTo": "transferred_to",
			"transferFrom": "transfer_from", "cache": "cache", "name": "name", "limits": "limits", "concurrency": "concurrency", "schedules": "schedules",
			"events": "events", "defaultRetention": "default_retention", "jurisdiction": "jurisdiction",
		})})
	}
	t.put("exports", m, out)
}
