package project

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// translation makes a project file of wrangler of a worker as cloudflare.config.ts and the Build Output
// describe it. The values keep their places, and messages name them as their file does.
type translation struct {
	r   *reader
	out *node
}

// translate returns the worker n as a project file. Its keys are named in r.
func translate(r *reader, n *node) *node {
	t := translation{r, &node{kind: kindObject, pos: n.pos}}
	t.r.words = append(t.r.words, word{"main", "entrypoint"}, word{"compatibility_date", "compatibilityDate"}, word{"compatibility_flags", "compatibilityFlags"})
	for _, m := range n.members {
		if m.val.kind != kindNull {
			t.key(n, m)
		}
	}
	return t.out
}

// workerKeys are the keys of a worker with what they are in a project file. "" has no effect here.
//
//nolint:gochecknoglobals // a constant table
var workerKeys = map[string]string{
	"name": "name", "compatibilityDate": "compatibility_date", "compatibilityFlags": "compatibility_flags", "entrypoint": "main", "access": "access",
	"cache": "cache", "placement": "placement", "logpush": "logpush", "observability": "observability", "workersDev": "workers_dev", "previewUrls": "preview_urls",
	"domains": "routes", "firstPartyWorker": "first_party_worker", "type": "", "manifest": "",
}

// key translates one key of the worker.
func (t translation) key(worker *node, m member) {
	switch m.key {
	case "assets":
		t.assets(m)
	case "env":
		t.env(worker, m)
	case "exports":
		t.exports(m)
	case "triggers":
		t.triggers(m)
	case "tailConsumers":
		t.entries(m, "tail_consumers", fields{"worker": "service", "workerName": "service"})
	case "limits":
		t.put("limits", m, t.object("limits", m.val, fields{"cpuMs": "cpu_ms", "subrequests": "subrequests", "memoryMb": "memory_mb"}))
	case "experimental":
		t.experimental(m)
	case "unsafe":
		t.put("unsafe", m, m.val)
	default:
		to, known := workerKeys[m.key]
		if !known {
			t.r.warn(m.pos, "unexpected field %q has no effect", m.key)
		} else if to != "" {
			t.put(to, m, m.val)
		}
	}
}

// put adds a key. Messages about it say what the file calls it.
func (t translation) put(key string, m member, v *node) {
	t.out.members = append(t.out.members, member{key, m.pos, v})
	t.r.words = append(t.r.words, word{key, m.key})
}

// list returns the list of a key, which may be below another: "queues.producers". It is made if it is absent.
func (t translation) list(key string, at pos) *node {
	n := t.out
	parts := strings.Split(key, ".")
	for i, part := range parts {
		next := n.get(part)
		if next == nil {
			next = &node{kind: kindObject, pos: at}
			if i == len(parts)-1 {
				next.kind = kindArray
			}
			n.members = append(n.members, member{part, at, next})
		}
		n = next
	}
	return n
}

// append adds an entry to the list of a key. Messages about it name from.
func (t translation) append(key string, entry *node, from string) {
	list := t.list(key, entry.pos)
	t.r.words = append(t.r.words, word{fmt.Sprintf("%s[%d]", key, len(list.items)), from})
	list.items = append(list.items, entry)
}

// fields are the keys of an object with those of a project file.
type fields map[string]string

// object renames the keys of n, which must be an object. Others are warned of.
func (t translation) object(at string, n *node, names fields) *node {
	out := &node{kind: kindObject, pos: n.pos}
	if !t.r.is(n, at, kindObject) {
		return out
	}
	for _, m := range n.members {
		switch to, known := names[m.key]; {
		case known && to == "":
		case known:
			out.members = append(out.members, member{to, m.pos, m.val})
			t.r.words = append(t.r.words, word{at + "." + to, at + "." + m.key})
		default:
			t.r.warn(m.pos, "unexpected field %q has no effect", at+"."+m.key)
		}
	}
	return out
}

// entries translates a list of objects.
func (t translation) entries(m member, key string, names fields) {
	if !t.r.is(m.val, m.key, kindArray) {
		return
	}
	for i, item := range m.val.items {
		at := fmt.Sprintf("%s[%d]", m.key, i)
		t.append(key, t.object(at, item, names), at)
	}
}

func (t translation) assets(m member) {
	a := t.object("assets", m.val, fields{"htmlHandling": "html_handling", "notFoundHandling": "not_found_handling", "runWorkerFirst": "run_worker_first", "basePath": ""})
	if base := m.val.get("basePath"); base != nil && strings.Trim(base.text, "/") != "" {
		t.r.problem(svc.CodeConfigUnsupported, "assets.basePath", base.pos, "assets.basePath is not supported: put the files in a directory %s of the assets", strings.Trim(base.text, "/"))
	}
	if old := t.out.get("assets"); old != nil { // the binding came first
		old.members = append(old.members, a.members...)
		return
	}
	t.put("assets", m, a)
}

func (t translation) experimental(m member) {
	if !t.r.is(m.val, m.key, kindObject) {
		return
	}
	for _, e := range m.val.members {
		switch at := "experimental." + e.key; e.key {
		case "streamingTailConsumers":
			t.put("streaming_tail_consumers", member{at, e.pos, e.val}, e.val)
		case "firstPartyWorker":
			t.put("first_party_worker", member{at, e.pos, e.val}, e.val)
		default:
			t.r.warn(e.pos, "unexpected field %q has no effect", at)
		}
	}
}

// textNode is a string at a place.
func textNode(value string, at pos) *node {
	raw, _ := json.Marshal(value) // texts always encode
	return &node{kind: kindString, pos: at, text: value, raw: raw}
}
