package project

import (
	"fmt"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// envType is how a type of binding is declared in a project file.
type envType struct {
	key    string // of the list, or of the one object if single
	single bool
	name   string // of the binding's name; "" for binding
	fields fields
}

// envTypes are the types of bindings. Those whose key is not supported are refused by it.
//
//nolint:gochecknoglobals // a constant table
var envTypes = map[string]envType{
	"kv":                       {key: "kv_namespaces", fields: fields{"id": "id"}},
	"d1":                       {key: "d1_databases", fields: fields{"name": "database_name", "id": "database_id", "jurisdiction": "jurisdiction"}},
	"r2":                       {key: "r2_buckets", fields: fields{"name": "bucket_name", "jurisdiction": "jurisdiction"}},
	"queue":                    {key: "queues.producers", fields: fields{"name": "queue", "deliveryDelay": "delivery_delay"}},
	"worker":                   {key: "services", fields: fields{"worker": "service", "workerName": "service", "exportName": "entrypoint", "props": "props"}},
	"durable-object":           {key: "durable_objects.bindings", name: "name", fields: fields{"worker": "script_name", "workerName": "script_name", "exportName": "class_name"}},
	"workflow":                 {key: "workflows", fields: fields{"name": "name", "worker": "script_name", "workerName": "script_name", "exportName": "class_name"}},
	"hyperdrive":               {key: "hyperdrive", fields: fields{"id": "id"}},
	"analytics-engine-dataset": {key: "analytics_engine_datasets", fields: fields{"name": "dataset"}},
	"rate-limit":               {key: "ratelimits", name: "name", fields: fields{"namespace": "namespace_id", "simple": "simple"}},
	"secrets-store-secret":     {key: "secrets_store_secrets", fields: fields{"storeId": "store_id", "secretName": "secret_name"}},
	"send-email": {key: "send_email", name: "name", fields: fields{
		"destinationAddress": "destination_address", "allowedDestinationAddresses": "allowed_destination_addresses", "allowedSenderAddresses": "allowed_sender_addresses",
	}},
	"ai":               {key: "ai", single: true},
	"version-metadata": {key: "version_metadata", single: true},

	"browser": {key: "browser", single: true}, "images": {key: "images", single: true}, "media": {key: "media", single: true},
	"stream": {key: "stream", single: true}, "analytics-sql": {key: "analytics", single: true},
	"vectorize": {key: "vectorize"}, "worker-loader": {key: "worker_loaders"}, "pipeline": {key: "pipelines"}, "k2": {key: "k2"},
	"dispatch-namespace": {key: "dispatch_namespaces"}, "mtls-certificate": {key: "mtls_certificates"}, "flagship": {key: "flagship"},
	"ai-search": {key: "ai_search"}, "ai-search-namespace": {key: "ai_search_namespaces"}, "agent-memory": {key: "agent_memory"},
	"artifacts": {key: "artifacts"}, "vpc-service": {key: "vpc_services"}, "vpc-network": {key: "vpc_networks"}, "logfwdr": {key: "logfwdr.bindings", name: "name"},
}

// env translates the variables and bindings.
func (t translation) env(worker *node, m member) {
	if !t.r.is(m.val, m.key, kindObject) {
		return
	}
	vars := &node{kind: kindObject, pos: m.pos}
	t.r.words = append(t.r.words, word{"vars", "env"}, word{"secrets.required", "env"})
	for _, b := range m.val.members {
		at := "env." + b.key
		if !t.r.is(b.val, at, kindObject) {
			continue
		}
		switch kind := t.r.text(b.val.get("type"), at+".type"); kind {
		case "text", "json":
			if v := b.val.get("value"); v != nil {
				vars.members = append(vars.members, member{b.key, b.pos, v})
			}
		case "secret":
			if o := b.val.get("optional"); o == nil || !o.yes {
				list := t.list("secrets.required", b.pos)
				list.items = append(list.items, textNode(b.key, b.pos))
			}
		case "assets":
			t.assetsBinding(b)
		default:
			t.binding(worker, b, kind)
		}
	}
	if len(vars.members) > 0 {
		t.out.members = append(t.out.members, member{"vars", m.pos, vars})
	}
}

func (t translation) assetsBinding(b member) {
	a := t.out.get("assets")
	if a == nil {
		a = &node{kind: kindObject, pos: b.pos}
		t.out.members = append(t.out.members, member{"assets", b.pos, a})
	}
	t.r.words = append(t.r.words, word{"assets.binding", "env." + b.key})
	a.members = append(a.members, member{"binding", b.pos, textNode(b.key, b.pos)})
}

// binding translates a binding to a resource.
func (t translation) binding(worker *node, b member, kind string) {
	at := "env." + b.key
	known, ok := envTypes[kind]
	if strings.HasPrefix(kind, "unsafe:") {
		known, ok = envType{key: "unsafe.bindings", name: "name"}, true
	}
	if !ok {
		t.r.problem(svc.CodeConfigUnsupported, at+".type", b.pos, "%s is of the type %q, which is not supported", at, kind)
		return
	}
	entry := &node{kind: kindObject, pos: b.val.pos}
	key := known.name
	if key == "" {
		key = "binding"
	}
	entry.members = append(entry.members, member{key, b.pos, textNode(b.key, b.pos)})
	for from, to := range known.fields {
		if from != "workerName" {
			t.r.words = append(t.r.words, word{fmt.Sprintf("has no %q", to), fmt.Sprintf("has no %q", from)})
		}
	}
	for _, m := range b.val.members {
		if to := known.fields[m.key]; to != "" && m.val.kind != kindNull && !t.itself(worker, to, m.val) {
			entry.members = append(entry.members, member{to, m.pos, m.val})
			t.r.words = append(t.r.words, word{"." + to, "." + m.key})
		} else if to == "" && known.fields != nil && m.key != "type" && m.key != "dev" && m.key != "remote" {
			t.r.warn(m.pos, "unexpected field %q has no effect", at+"."+m.key)
		}
	}
	if kind == "queue" && entry.get("queue") == nil { // the name of the binding is that of the resource
		entry.members = append(entry.members, member{"queue", b.pos, textNode(b.key, b.pos)})
	}
	if known.single {
		t.out.members = append(t.out.members, member{known.key, b.pos, entry})
		t.r.words = append(t.r.words, word{known.key, at})
		return
	}
	t.append(known.key, entry, at)
}

// itself reports whether a binding names the worker itself, for which a project file names none.
func (t translation) itself(worker *node, key string, v *node) bool {
	name := worker.get("name")
	return key == "script_name" && name != nil && v.text == name.text
}
