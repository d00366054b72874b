package manifests_test

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/svcctl/svcctl/internal/client/manifests"
	"github.com/svcctl/svcctl/internal/fleet/join"
	"github.com/svcctl/svcctl/internal/server/api/tokens"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func secrets(t *testing.T, own string) []runtime.Object {
	t.Helper()
	made, err := manifests.Secrets(manifests.NamesOf(values(t, own)), "team", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	var list []runtime.Object
	for _, o := range made {
		object, _, err := decoder(t).Decode([]byte(o.Text), nil, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, o.Text)
		}
		list = append(list, object)
	}
	return list
}

// TestSecrets: the parts of an installation can use them: the token of gateways is one of the
// server's, hosts trust what the server shows, and all can be told apart.
func TestSecrets(t *testing.T) {
	t.Parallel()
	list := secrets(t, "trialStore: {enabled: true}")
	server, gateway := find[*corev1.Secret](t, list, "svcctl"), find[*corev1.Secret](t, list, "svcctl-gateway")
	ca, store := find[*corev1.ConfigMap](t, list, "svcctl-hosts-ca"), find[*corev1.Secret](t, list, "svcctl-s3")
	for _, immutable := range []*bool{server.Immutable, gateway.Immutable, ca.Immutable, store.Immutable} {
		if immutable == nil || !*immutable {
			t.Error("an object can be replaced")
		}
	}
	if server.Namespace != "team" || len(server.StringData["recovery-key"]) < 26 || len(store.StringData["S3_SECRET_ACCESS_KEY"]) < 26 || store.StringData["S3_ACCESS_KEY_ID"] == "" {
		t.Error("the recovery key or the keys of the store are not usable")
	}
	file, err := tokens.Open(svctest.Files(t, map[string]string{"tokens.yaml": server.StringData["tokens.yaml"]})+"/tokens.yaml", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if known := file.Tokens(); len(known) != 1 || known[0].Role != svc.RoleGateway || known[0].Hash != sha256.Sum256([]byte(gateway.StringData["token"])) {
		t.Errorf("the server knows %+v", known)
	}
	if _, err := join.ParseAuthority([]byte(server.StringData["hosts-authority.pem"])); err != nil {
		t.Error(err)
	}
	pair, err := tls.X509KeyPair([]byte(server.StringData["hosts-authority.pem"]), []byte(server.StringData["hosts-authority.pem"]))
	block, rest := pem.Decode([]byte(ca.Data["ca.crt"]))
	if err != nil || block == nil || len(rest) > 0 || !reflect.DeepEqual(block.Bytes, pair.Certificate[0]) {
		t.Fatalf("hosts get another certificate than the server has: %v", err)
	}
	if c, err := x509.ParseCertificate(block.Bytes); err != nil || !c.IsCA {
		t.Errorf("no authority: %v", err)
	}
}

// TestSecretsDiffer: each set is new.
func TestSecretsDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for range 2 {
		for name, value := range find[*corev1.Secret](t, secrets(t, ""), "svcctl").StringData {
			if other, twice := seen[value]; twice {
				t.Errorf("%s and %s are the same", other, name)
			}
			seen[value] = name
		}
	}
}

// TestNames: values name the Secret, and the others after it.
func TestNames(t *testing.T) {
	t.Parallel()
	for own, want := range map[string]manifests.Names{
		"":                          {ControlPlane: "svcctl", Gateway: "svcctl-gateway", HostsCA: "svcctl-hosts-ca"},
		"secrets: {existing: mine}": {ControlPlane: "mine", Gateway: "mine-gateway", HostsCA: "mine-hosts-ca", Existing: true},
		"trialStore: {enabled: true}\nsecrets: {existing: a}": {ControlPlane: "a", Gateway: "a-gateway", HostsCA: "a-hosts-ca", Store: "a-s3", Existing: true},
		"trialStore: {enabled: true}\ns3: {secret: b}":        {ControlPlane: "svcctl", Gateway: "svcctl-gateway", HostsCA: "svcctl-hosts-ca"},
	} {
		if got := manifests.NamesOf(values(t, own)); got != want {
			t.Errorf("%q: %+v, want %+v", own, got, want)
		}
	}
}
