package project

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding/kinds"
	"github.com/svcctl/svcctl/internal/svc"
)

// declared reads the bindings whose entries are, but for defaults, what a manifest has.
func (l *layers) declared(f *File) {
	l.ai(f)
	l.analytics(f)
	l.rateLimits(f)
	l.sendEmail(f)
	l.hyperdrive(f)
	l.storeSecrets(f)
}

// declare adds a binding; its kind is one of kinds.
func (f *File) declare(b bundle.Binding) {
	kind, _ := kinds.Named(b.Kind)
	f.Declared = append(f.Declared, Declared{b, kind.ConfigKey, kind.Types})
}

// single gives the value of a key that declares one binding; nil for none.
func (l *layers) single(key string) (n *node, at string) {
	n, at = l.get(key), l.path(key)
	if n == nil || !l.r.is(n, at, kindObject) || n.empty() {
		return nil, at
	}
	return n, at
}

func (l *layers) ai(f *File) {
	if n, at := l.single("ai"); n != nil {
		l.r.members(n, at, []string{"binding"}, []string{"remote", "staging", "experimental_remote"})
		f.declare(bundle.Binding{Name: l.nameOf(n, at, "binding"), Kind: kinds.AI})
	}
}

func (l *layers) analytics(f *File) {
	l.entries("analytics_engine_datasets", func(at string, n *node) {
		l.r.members(n, at, []string{"binding", "dataset"}, []string{"remote"})
		name := l.nameOf(n, at, "binding")
		set := cmp.Or(l.r.text(n.get("dataset"), at+".dataset"), name)
		if set != "" && !kinds.IsDataset(set) {
			l.r.problem(svc.CodeConfigInvalid, at+".dataset", n.pos, "%s has the dataset %q; the name of a dataset has %s", at, set, kinds.DatasetRule)
		}
		f.declare(bundle.Binding{Name: name, Kind: kinds.AnalyticsEngine, Resource: set})
	})
}

// rateLimits reads those of ratelimits, and of unsafe.bindings, where older wranglers have them.
func (l *layers) rateLimits(f *File) {
	l.entries("ratelimits", func(at string, n *node) {
		l.r.members(n, at, []string{"name", "namespace_id", "simple"}, []string{"remote"})
		l.rateLimit(f, at, n)
	})
	if n := l.get("unsafe"); rateLimitsAlone(n) {
		l.list(n.get("bindings"), l.path("unsafe")+".bindings", func(at string, n *node) { l.rateLimit(f, at, n) })
	}
}

// rateLimitsAlone reports whether a section unsafe has rate limits and nothing else.
func rateLimitsAlone(n *node) bool {
	list := n.get("bindings")
	return list != nil && list.kind == kindArray && len(list.items) > 0 && len(n.members) == 1 &&
		!slices.ContainsFunc(list.items, func(item *node) bool { t := item.get("type"); return t == nil || t.text != "ratelimit" })
}

func (l *layers) rateLimit(f *File, at string, n *node) {
	name, namespace, simple := l.nameOf(n, at, "name"), n.get("namespace_id"), n.get("simple")
	if namespace == nil || simple == nil || !l.r.is(simple, at+".simple", kindObject) {
		l.r.problem(svc.CodeConfigInvalid, at, n.pos, `%s must have "namespace_id" and "simple"%s`, at, typo(n, "namespace_id"))
		return
	}
	id := namespace.text
	if namespace.kind == kindNumber {
		id = string(namespace.raw)
	}
	var c kinds.RateLimitConfig
	for key, to := range map[string]*int{"limit": &c.Limit, "period": &c.Period} {
		v := simple.get(key)
		if v == nil || json.Unmarshal(v.raw, to) != nil || *to < 1 || key == "period" && *to != 10 && *to != 60 {
			l.r.problem(svc.CodeConfigInvalid, at+".simple", simple.pos, "%s.simple must have a limit of at least 1 and a period of 10 or 60 seconds", at)
			return
		}
	}
	config, _ := json.Marshal(c) // two numbers always encode
	f.declare(bundle.Binding{Name: name, Kind: kinds.RateLimit, Resource: id, Config: config})
}

func (l *layers) sendEmail(f *File) {
	l.entries("send_email", func(at string, n *node) {
		l.r.members(n, at, []string{"name", "destination_address", "allowed_destination_addresses", "allowed_sender_addresses"}, []string{"remote"})
		c := kinds.SendEmailConfig{
			Destinations: l.r.texts(n.get("allowed_destination_addresses"), at+".allowed_destination_addresses"),
			Senders:      l.r.texts(n.get("allowed_sender_addresses"), at+".allowed_sender_addresses"),
		}
		if to := l.r.text(n.get("destination_address"), at+".destination_address"); to != "" {
			c.Destinations = []string{to}
		}
		b := bundle.Binding{Name: l.nameOf(n, at, "name"), Kind: kinds.SendEmail}
		b.Resource = b.Name
		if len(c.Destinations)+len(c.Senders) > 0 {
			b.Config, _ = json.Marshal(c) // texts always encode
		}
		f.declare(b)
	})
}

func (l *layers) hyperdrive(f *File) {
	l.entries("hyperdrive", func(at string, n *node) {
		l.r.members(n, at, []string{"binding", "id"}, []string{"localConnectionString", "remote"})
		name := l.nameOf(n, at, "binding")
		f.declare(bundle.Binding{Name: name, Kind: kinds.Hyperdrive, Resource: cmp.Or(l.r.text(n.get("id"), at+".id"), name)})
	})
}

func (l *layers) storeSecrets(f *File) {
	l.entries("secrets_store_secrets", func(at string, n *node) {
		l.r.members(n, at, []string{"binding", "store_id", "secret_name"}, []string{"remote"})
		secret := n.get("secret_name")
		if secret == nil {
			l.r.problem(svc.CodeConfigInvalid, at, n.pos, `%s has no "secret_name"%s`, at, typo(n, "secret_name"))
		}
		f.declare(bundle.Binding{Name: l.nameOf(n, at, "binding"), Kind: kinds.StoreSecret, Resource: l.r.text(secret, at+".secret_name")})
	})
}
