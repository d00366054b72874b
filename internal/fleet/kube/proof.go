package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	core "k8s.io/api/core/v1"

	"github.com/svcctl/svcctl/internal/fleet/join"
	"github.com/svcctl/svcctl/internal/svc"
)

// keysFor is how long the keys of the cluster are used; keysAgain how soon they may be read again
// for a token that none of them has signed.
const (
	keysFor   = time.Hour
	keysAgain = 10 * time.Second
)

// clockSlack is how far the clocks of the cluster and of the server may differ.
const clockSlack = 5 * time.Minute

// claims are what Kubernetes says of a pod in its token.
type claims struct {
	jwt.Claims

	Kubernetes struct {
		Namespace string `json:"namespace"`
		Pod       struct {
			Name string `json:"name"`
			UID  string `json:"uid"`
		} `json:"pod"`
		ServiceAccount struct {
			Name string `json:"name"`
		} `json:"serviceaccount"`
	} `json:"kubernetes.io"`
}

// keyring has the keys of the cluster.
type keyring struct {
	client *Client

	mu     sync.Mutex // guards the fields below
	set    jose.JSONWebKeySet
	issuer string
	read   time.Time
}

// check verifies a token and returns what it says.
func (k *keyring) check(ctx context.Context, token string) (c claims, err error) {
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.RS256, jose.ES256, jose.ES384, jose.RS512})
	if err != nil {
		return c, fmt.Errorf("it is no token of a service account: %w", err)
	}
	set, issuer, err := k.current(ctx, keysFor)
	if err != nil {
		return c, err
	}
	if err = parsed.Claims(set, &c); err != nil { // perhaps by a new key
		if set, issuer, err = k.current(ctx, keysAgain); err == nil {
			err = parsed.Claims(set, &c)
		}
	}
	if err != nil {
		return c, fmt.Errorf("no key of the cluster has signed it: %w", err)
	}
	return c, c.ValidateWithLeeway(jwt.Expected{Issuer: issuer, AnyAudience: jwt.Audience{Audience}, Time: time.Now()}, clockSlack)
}

// current returns the keys, not older than a limit.
func (k *keyring) current(ctx context.Context, limit time.Duration) (jose.JSONWebKeySet, string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if time.Since(k.read) < limit {
		return k.set, k.issuer, nil
	}
	text, issuer, err := k.client.keys(ctx)
	var set jose.JSONWebKeySet
	if err == nil {
		err = json.Unmarshal(text, &set)
	}
	if err != nil {
		if len(k.set.Keys) > 0 {
			return k.set, k.issuer, nil // the API server is away; they change rarely
		}
		return set, "", refused("reading the keys of the cluster", err)
	}
	k.set, k.issuer, k.read = set, issuer, time.Now()
	return set, issuer, nil
}

// Admit accepts a pod that proves to be the one that it says, and that the namespace has. A pod
// that was claimed may only come with its version, or as a spare for it.
func (p *Pods) Admit(ctx context.Context, h join.Hello) error {
	c, err := p.keys.check(ctx, h.Secret.Reveal())
	if errors.Is(err, svc.Unavailable) { // the API server is away: the token may be good
		return err
	}
	if err != nil {
		return unproven(h, err.Error()).Because(err)
	}
	k := c.Kubernetes
	switch {
	case k.Namespace != p.cfg.Client.namespace:
		return unproven(h, fmt.Sprintf("its token is of the namespace %q", k.Namespace))
	case k.ServiceAccount.Name != p.cfg.Account:
		return unproven(h, fmt.Sprintf("its token is of the service account %q", k.ServiceAccount.Name))
	case k.Pod.UID == "" || k.Pod.UID != h.Machine:
		return unproven(h, fmt.Sprintf("its token is of another pod, %q", k.Pod.Name))
	}
	pod, err := p.known(ctx, k.Pod.Name, k.Pod.UID)
	if err != nil {
		return err
	}
	if pod == nil || pod.DeletionTimestamp != nil && h.Mark == "" {
		return unproven(h, "the namespace does not have this pod any more")
	}
	if ref, claimed := owner(pod); claimed && h.Ref != nil && *h.Ref != ref {
		return unproven(h, fmt.Sprintf("the pod is of version %s, and its host has %s", ref, *h.Ref))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen[k.Pod.UID] = true
	return nil
}

// known returns the pod with a uid, which the watch may not have seen yet; nil for none.
func (p *Pods) known(ctx context.Context, name, uid string) (*core.Pod, error) {
	if pod := p.find(uid); pod != nil {
		return pod, nil
	}
	pod, err := p.cfg.Client.pod(ctx, name)
	switch {
	case gone(err) || err == nil && string(pod.UID) != uid:
		return nil, nil // none is no error
	case err != nil:
		return nil, refused(named("reading", name), err)
	}
	return pod, nil
}

func unproven(h join.Hello, why string) *svc.Error {
	return svc.Errorf(svc.Forbidden, svc.CodeHostTokenInvalid, "the server does not accept the pod %s: %s", h.Name, why).
		WithHint("start worker hosts from the Deployment that svcctl admin manifests kubernetes prints, with a projected token of the audience " + Audience)
}
