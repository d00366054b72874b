package manifests

import (
	"cmp"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/fleet/join"
)

// Names are the names of the objects that hold an installation's tokens and keys.
type Names struct {
	ControlPlane string // Secret
	Gateway      string // Secret with the token of gateways
	HostsCA      string // ConfigMap with the certificate of the hosts' authority
	Store        string // Secret with the keys of the trial store; "" without one, or if values name its Secret

	Existing bool // values name the Secret, so all exist
}

// NamesOf returns the names that values lead to.
func NamesOf(values map[string]any) Names {
	given := text(values, "secrets", "existing")
	base := cmp.Or(given, DefaultSecret)
	n := Names{ControlPlane: base, Gateway: base + "-gateway", HostsCA: base + "-hosts-ca", Existing: given != ""}
	if trial, _ := section(values, "trialStore")["enabled"].(bool); trial && text(values, "s3", "secret") == "" {
		n.Store = base + "-s3"
	}
	return n
}

// DefaultSecret is the name of the Secret if values name none.
const DefaultSecret = "svcctl"

func section(values map[string]any, name string) map[string]any {
	inner, _ := values[name].(map[string]any)
	return inner
}

func text(values map[string]any, name, key string) string {
	s, _ := section(values, name)[key].(string)
	return s
}

// Secrets makes new tokens, keys and an authority for worker hosts, and returns the objects that
// hold them. They are immutable: kubectl apply of a second set fails, rather than replace the key of
// the registry's copies.
func Secrets(n Names, namespace string, now time.Time) ([]Object, error) {
	authority, err := join.NewAuthority(now)
	if err != nil {
		return nil, err
	}
	keys, err := authority.PEM()
	if err != nil {
		return nil, err
	}
	gateway := "gateway-" + rand.Text()
	secret := func(name string, content map[string]string) map[string]any {
		return kept("Secret", name, namespace, map[string]any{"type": "Opaque", "stringData": content})
	}
	all := []map[string]any{
		secret(n.ControlPlane, map[string]string{
			"admin-token": "admin-" + rand.Text(), "deploy-token": "deploy-" + rand.Text(), "recovery-key": "recovery-" + rand.Text() + rand.Text(),
			"tokens.yaml":         fmt.Sprintf("tokens:\n  - {name: gateways, role: gateway, token: %s}\n", gateway),
			"hosts-authority.pem": string(keys),
		}),
		secret(n.Gateway, map[string]string{"token": gateway}),
		kept("ConfigMap", n.HostsCA, namespace, map[string]any{"data": map[string]string{
			"ca.crt": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Certificate().Raw})),
		}}),
	}
	if n.Store != "" {
		all = append(all, secret(n.Store, map[string]string{"S3_ACCESS_KEY_ID": "svcctl", "S3_SECRET_ACCESS_KEY": rand.Text() + rand.Text()}))
	}
	list := make([]Object, len(all))
	for i, fields := range all {
		text, err := toYAML(fields)
		if err != nil {
			return nil, err
		}
		if list[i], err = object(text); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// kept is an object that cannot be changed.
func kept(kind, name, namespace string, content map[string]any) map[string]any {
	content["apiVersion"], content["kind"], content["immutable"] = "v1", kind, true
	content["metadata"] = map[string]any{"name": name, "namespace": namespace, "labels": map[string]string{"app.kubernetes.io/name": root}}
	return content
}
