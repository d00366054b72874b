package kubetest

import (
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	core "k8s.io/api/core/v1"
)

const (
	issuer = "https://kubernetes.test"
	keyID  = "k1"
)

func (s *Server) keys() jose.JSONWebKeySet {
	return jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: s.key.Public(), KeyID: keyID, Algorithm: string(jose.RS256), Use: "sig"}}}
}

// Token returns the service account token of a pod. adjust may change what it says; it may be nil.
func (s *Server) Token(t *testing.T, pod *core.Pod, adjust func(claims map[string]any)) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: s.key, KeyID: keyID}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	claims := map[string]any{
		"iss": issuer, "aud": []string{"svcctl"}, "iat": now.Unix(), "nbf": now.Unix(), "exp": now.Add(time.Hour).Unix(), "sub": "system:serviceaccount:" + Namespace + ":svcctl-host",
		"kubernetes.io": map[string]any{
			"namespace": Namespace, "pod": map[string]any{"name": pod.Name, "uid": string(pod.UID)}, "serviceaccount": map[string]any{"name": "svcctl-host"},
			"node": map[string]any{"name": pod.Spec.NodeName},
		},
	}
	if adjust != nil {
		adjust(claims)
	}
	token, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}
