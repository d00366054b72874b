package kube_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	core "k8s.io/api/core/v1"

	"github.com/svcctl/svcctl/internal/fleet/join"
	"github.com/svcctl/svcctl/internal/fleet/kube"
	"github.com/svcctl/svcctl/internal/fleet/machines"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/kubetest"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestMain finds leaks and limits the run.
func TestMain(m *testing.M) { svctest.Main(m, nil) }

var quiet = slog.New(slog.DiscardHandler)

// cluster is a server with its client.
type cluster struct {
	*kubetest.Server

	client *kube.Client
}

func newCluster(t *testing.T, spares int) *cluster {
	t.Helper()
	s := kubetest.New(t, kubetest.Options{Spares: spares})
	c, err := kube.Connect(s.Kubeconfig(t), "")
	if err != nil {
		t.Fatal(err)
	}
	return &cluster{s, c}
}

func (c *cluster) watch(t *testing.T, adjust func(*kube.Config)) *kube.Pods {
	t.Helper()
	cfg := kube.Config{Logger: quiet, Client: c.client, Machines: func() []svc.Node { return nil }, MemoryMB: 256}
	if adjust != nil {
		adjust(&cfg)
	}
	p, err := kube.Watch(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p
}

// spares are the spare pods as the fleet would offer them.
func (c *cluster) spares() (list []machines.Spare) {
	for _, p := range c.Pods() {
		list = append(list, machines.Spare{Machine: string(p.UID)})
	}
	return list
}

func spec(version string) svc.RuntimeSpec {
	return svc.RuntimeSpec{Ref: svc.Ref{Project: "shop", Version: version}}
}

// TestClaim: a claimed pod has the labels of its version, no owner and its memory, and another
// server cannot claim it.
func TestClaim(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	p, other := c.watch(t, nil), c.watch(t, nil)
	pod := c.Pods()[0]
	if i := p.Choose(spec("v1").Ref, "", c.spares()); i != 0 {
		t.Fatalf("chose %d", i)
	}
	// The kubelet writes the status meanwhile: the claim reads the pod again.
	c.Change(pod.Name, func(p *core.Pod) { p.Status.Phase = core.PodRunning })
	if err := p.Claim(t.Context(), spec("v1"), string(pod.UID)); err != nil {
		t.Fatal(err)
	}
	got := c.PodOf("shop", "v1")
	if got == nil || got.UID != pod.UID || got.Labels[kube.SpareLabel] == "" || len(got.OwnerReferences) == 0 || len(c.Pods()) != 1 {
		t.Fatalf("%+v of %d", got, len(c.Pods()))
	}
	for range 2 {
		if err := p.Replace(t.Context(), spec("v1"), string(pod.UID)); err != nil {
			t.Fatal(err)
		}
	}
	got = c.PodOf("shop", "v1")
	if got.Labels[kube.SpareLabel] != "" || len(got.OwnerReferences) != 0 {
		t.Fatalf("%+v", got)
	}
	if m := got.Spec.Containers[0].Resources.Limits[core.ResourceMemory]; m.Value() != 256<<20 {
		t.Errorf("memory limit %s", m.String())
	}
	if err := other.Claim(t.Context(), spec("v2"), string(pod.UID)); svc.CodeOf(err) != svc.CodePodTaken || svc.AsError(err).Hint == "" {
		t.Errorf("the claim of another server: %v", err)
	}
	if err := p.Claim(t.Context(), spec("v1"), string(pod.UID)); err != nil {
		t.Errorf("a second claim for the version: %v", err)
	}
	svctest.Eventually(t, "the watch", func() bool { return slices.Equal(p.Has(spec("v1").Ref), []string{string(pod.UID)}) })
	if n := p.Node(string(pod.UID)); n != pod.Spec.NodeName {
		t.Errorf("node %q", n)
	}
	svctest.Eventually(t, "another spare", func() bool { return len(c.Pods()) == 2 })
	svctest.Eventually(t, "the watch", func() bool { return p.Choose(spec("v2").Ref, "", c.spares()) >= 0 })
	if i := p.Choose(spec("v2").Ref, "", []machines.Spare{{Machine: string(pod.UID)}}); i != -1 {
		t.Errorf("v2 would get the pod of v1")
	}
	if i := p.Choose(spec("v1").Ref, "", []machines.Spare{{Machine: string(pod.UID)}}); i != 0 {
		t.Errorf("v1 would not get its own pod again: %d", i)
	}
	c.Evict(got.Name)
	svctest.Eventually(t, "the watch of the end", func() bool { return p.Has(spec("v1").Ref) == nil })
}

// TestSpread: versions go to the node that has the fewest.
func TestSpread(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	p := c.watch(t, nil)
	nodes := map[string]bool{}
	for _, version := range []string{"v1", "v2", "v3"} {
		svctest.Succeeds(t, "a claim", func() error {
			list := c.spares()
			i := p.Choose(spec(version).Ref, "", list)
			if i < 0 {
				return svc.Errorf(svc.Conflict, svc.CodePodTaken, "none")
			}
			return p.Claim(t.Context(), spec(version), list[i].Machine)
		})
		pod := c.PodOf("shop", version)
		svctest.Eventually(t, "the watch", func() bool { return p.Has(spec(version).Ref) != nil })
		nodes[pod.Spec.NodeName] = true
	}
	if len(nodes) != 3 {
		t.Errorf("three versions are on %d nodes", len(nodes))
	}
}

// TestAdmit: a pod is believed only with its own token.
func TestAdmit(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	p := c.watch(t, nil)
	pods := c.Pods()
	mine, other := &pods[0], &pods[1]
	k8s := func(m map[string]any) map[string]any { return m["kubernetes.io"].(map[string]any) } //nolint:forcetypeassert // as made
	for name, adjust := range map[string]func(map[string]any){
		"expired":         func(m map[string]any) { m["exp"] = time.Now().Add(-10 * time.Minute).Unix() },
		"not yet valid":   func(m map[string]any) { m["nbf"] = time.Now().Add(10 * time.Minute).Unix() },
		"audience":        func(m map[string]any) { m["aud"] = []string{"https://kubernetes.test"} },
		"issuer":          func(m map[string]any) { m["iss"] = "https://elsewhere" },
		"namespace":       func(m map[string]any) { k8s(m)["namespace"] = "other" },
		"service account": func(m map[string]any) { k8s(m)["serviceaccount"] = map[string]any{"name": "default"} },
		"another pod":     func(m map[string]any) { k8s(m)["pod"] = map[string]any{"name": other.Name, "uid": string(other.UID)} },
		"no pod":          func(m map[string]any) { delete(k8s(m), "pod") },
		"a pod that is gone": func(m map[string]any) {
			k8s(m)["pod"] = map[string]any{"name": "gone", "uid": string(mine.UID) + "x"}
		},
	} {
		h := join.Hello{Secret: svc.Secret(c.Token(t, mine, adjust)), Machine: string(mine.UID), Name: mine.Name}
		if name == "a pod that is gone" {
			h.Machine += "x"
		}
		err := p.Admit(t.Context(), h)
		if e := svc.AsError(err); err == nil || e.Code != svc.CodeHostTokenInvalid || e.Hint == "" || strings.Contains(e.Detail, h.Secret.Reveal()) {
			t.Errorf("%s: %v", name, err)
		}
	}
	stranger := kubetest.New(t, kubetest.Options{Spares: 1})
	good := join.Hello{Secret: svc.Secret(c.Token(t, mine, nil)), Machine: string(mine.UID), Name: mine.Name}
	foreign := good
	foreign.Secret = svc.Secret(stranger.Token(t, mine, nil))
	if err := p.Admit(t.Context(), foreign); svc.CodeOf(err) != svc.CodeHostTokenInvalid {
		t.Errorf("a token of another cluster: %v", err)
	}
	foreign.Secret = "nonsense"
	if err := p.Admit(t.Context(), foreign); svc.CodeOf(err) != svc.CodeHostTokenInvalid {
		t.Errorf("no token: %v", err)
	}
	skewed := good
	skewed.Secret = svc.Secret(c.Token(t, mine, func(m map[string]any) {
		m["nbf"], m["exp"] = time.Now().Add(4*time.Minute).Unix(), time.Now().Add(time.Hour).Unix()
	}))
	for _, h := range []join.Hello{good, skewed} {
		if err := p.Admit(t.Context(), h); err != nil {
			t.Error(err)
		}
	}
	if err := p.Claim(t.Context(), spec("v1"), string(mine.UID)); err != nil {
		t.Fatal(err)
	}
	svctest.Eventually(t, "the watch", func() bool { return p.Has(spec("v1").Ref) != nil })
	wrong := spec("v2").Ref
	good.Ref, good.Mark = &wrong, "m"
	if err := p.Admit(t.Context(), good); svc.CodeOf(err) != svc.CodeHostTokenInvalid {
		t.Errorf("a host with the version of another pod: %v", err)
	}
}

// TestAdmitWithoutKeys: a pod is not refused because the API server is away.
func TestAdmitWithoutKeys(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	p := c.watch(t, nil)
	pod := &c.Pods()[0]
	h := join.Hello{Secret: svc.Secret(c.Token(t, pod, nil)), Machine: string(pod.UID), Name: pod.Name}
	c.SetDown(true)
	if err := p.Admit(t.Context(), h); !errors.Is(err, svc.Unavailable) {
		t.Errorf("without keys: %v", err)
	}
	c.SetDown(false)
	if err := p.Admit(t.Context(), h); err != nil {
		t.Error(err)
	}
}

// TestUnused: claimed pods without a version are deleted, others stay. After a watch that expired
// the pods are still known.
func TestUnused(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	runs := make(chan []svc.Node, 1)
	runs <- nil
	p := c.watch(t, func(cfg *kube.Config) {
		cfg.Idle, cfg.Settle = time.Nanosecond, time.Nanosecond
		cfg.Machines = func() []svc.Node { now := <-runs; runs <- now; return now }
	})
	pods := c.Pods()
	<-runs
	runs <- []svc.Node{{ID: string(pods[0].UID), Versions: []svc.Ref{spec("kept").Ref}}}
	c.Expire()
	for i, version := range []string{"kept", "lost"} {
		err := p.Claim(t.Context(), spec(version), string(pods[i].UID))
		if err == nil {
			err = p.Replace(t.Context(), spec(version), string(pods[i].UID))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	svctest.Eventually(t, "the pod of the lost version to be deleted", func() bool { return c.PodOf("shop", "lost") == nil })
	if c.PodOf("shop", "kept") == nil || len(c.Pods()) != 4 {
		t.Errorf("%d pods are left", len(c.Pods()))
	}
}

// TestLacking: the reason why there is no spare is in the words of Kubernetes.
func TestLacking(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 0)
	c.Warn("FailedCreate", "pods \"svcctl-spare-1\" is forbidden: exceeded quota: workers")
	p := c.watch(t, nil)
	svctest.Eventually(t, "the quota", func() bool { return strings.Contains(p.Lacking(), "exceeded quota: workers") })
	c.Scale(1)
	c.Change(c.Pods()[0].Name, func(p *core.Pod) {
		p.Status.ContainerStatuses = []core.ContainerStatus{{State: core.ContainerState{Waiting: &core.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "image svcctl:none not found"}}}}
	})
	svctest.Eventually(t, "the image", func() bool { return strings.Contains(p.Lacking(), "ImagePullBackOff: image svcctl:none not found") })
	c.Change(c.Pods()[0].Name, func(p *core.Pod) {
		p.Status = core.PodStatus{Conditions: []core.PodCondition{{Type: core.PodScheduled, Status: core.ConditionFalse, Message: "0/3 nodes are available: insufficient memory"}}}
	})
	svctest.Eventually(t, "the nodes", func() bool { return strings.Contains(p.Lacking(), "insufficient memory") })
}

// TestEnded: the end of a pod is in the words of Kubernetes.
func TestEnded(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	p := c.watch(t, nil)
	pod := c.Pods()[0]
	machine := string(pod.UID)
	says := func(words string) {
		t.Helper()
		svctest.Eventually(t, words, func() bool { return p.Ended(machine) == words })
	}
	says("")
	c.Change(pod.Name, func(p *core.Pod) {
		p.Status.ContainerStatuses = []core.ContainerStatus{{LastTerminationState: core.ContainerState{Terminated: &core.ContainerStateTerminated{Reason: "OOMKilled", ExitCode: 137}}}}
	})
	says("Kubernetes says of pod " + pod.Name + ": OOMKilled (exit code 137)")
	c.Change(pod.Name, func(p *core.Pod) {
		p.Status.Conditions = []core.PodCondition{{Type: core.DisruptionTarget, Status: core.ConditionTrue, Reason: "DeletionByTaintManager", Message: "the node is not ready"}}
	})
	says("Kubernetes says of pod " + pod.Name + ": DeletionByTaintManager: the node is not ready")
	c.Change(pod.Name, func(p *core.Pod) {
		p.Status.Reason, p.Status.Message = "Evicted", "The node was low on resource: memory."
	})
	says("Kubernetes says of pod " + pod.Name + ": Evicted: The node was low on resource: memory.")
	c.Remove(pod.Name)
	says("its pod was deleted")
}

// TestRefusals: what the API server refuses is said in its words, with a way out.
func TestRefusals(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	p := c.watch(t, nil)
	machine := string(c.Pods()[0].UID)
	c.Refuse("patch pods", "pods is forbidden: User svcctl cannot patch resource pods")
	err := p.Claim(t.Context(), spec("v1"), machine)
	if e := svc.AsError(err); e.Code != svc.CodeClusterForbidden || e.Kind != svc.Unavailable || !strings.Contains(e.Detail, "cannot patch resource") || e.Hint == "" {
		t.Errorf("%+v", e)
	}
	c.Refuse("patch pods", "")
	c.SetDown(true)
	err = p.Claim(t.Context(), spec("v1"), machine)
	if e := svc.AsError(err); e.Code != svc.CodeClusterUnavailable || e.Kind != svc.Unavailable || e.Hint == "" {
		t.Errorf("%+v", e)
	}
	c.SetDown(false)
	if err := p.Claim(t.Context(), spec("v1"), machine); err != nil {
		t.Error(err)
	}
	c.Refuse("get pods", "pods is forbidden: User svcctl cannot list resource pods")
	_, err = kube.Watch(t.Context(), kube.Config{Logger: quiet, Client: c.client, Machines: func() []svc.Node { return nil }})
	if e := svc.AsError(err); e.Code != svc.CodeClusterForbidden {
		t.Errorf("a watch without the right: %v", err)
	}
	if _, err := kube.Connect("/nonexistent", ""); svc.CodeOf(err) != svc.CodeClusterUnavailable {
		t.Errorf("no kubeconfig: %v", err)
	}
}

// TestLead: one of two servers leads. When it releases the lease the other one leads, and when it is
// cut off from the API server it stops before the other one may begin.
func TestLead(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 0)
	first, err := kube.Lead(t.Context(), c.client, "svcctl", "a", quiet)
	if err != nil {
		t.Fatal(err)
	}
	second := make(chan *kube.Leadership, 1)
	go func() {
		l, err := kube.Lead(t.Context(), c.client, "svcctl", "b", quiet)
		if err == nil {
			second <- l
		}
	}()
	select {
	case <-second:
		t.Fatal("both lead")
	case <-first.Lost():
		t.Fatal("the first has lost the lease")
	case <-time.After(3 * time.Second):
	}
	if until := time.Until(first.PermitsUntil()); until < kube.PermitTime-2*time.Second || until > kube.PermitTime {
		t.Errorf("permits are valid for %s", until)
	}
	released := time.Now()
	first.Release(t.Context())
	l := svctest.Wait(t, "the second server to lead", second)
	if b := l.Before(); b.Vanished || b.Ended.Before(released.Add(kube.PermitTime)) {
		t.Errorf("after a release: %+v", b)
	}
	if h := c.Lease("svcctl"); h != "b" {
		t.Errorf("the lease is of %q", h)
	}
	c.SetDown(true)
	began := time.Now()
	svctest.Wait(t, "the end of its leadership", l.Lost())
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("it led for %s without the API server; another may lead after 4 s", took)
	}
	if until := l.PermitsUntil(); !until.IsZero() {
		t.Errorf("it gives permits until %s", until)
	}
	c.SetDown(false)
	l.Release(context.WithoutCancel(t.Context()))
}

// TestVanished: a server waits for the length of the lease since it has seen its last renewal, without
// the time in which the API server was away: the holder could not renew it either.
func TestVanished(t *testing.T) {
	t.Parallel()
	const lease, away = 4 * time.Second, 2 * time.Second
	c := newCluster(t, 0)
	first, err := kube.Lead(t.Context(), c.client, "svcctl", "a", quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Release(t.Context())
	began := time.Now()
	c.Hold("svcctl", "gone")
	leads := make(chan *kube.Leadership, 1)
	go func() {
		if l, err := kube.Lead(t.Context(), c.client, "svcctl", "b", quiet); err == nil {
			leads <- l
		}
	}()
	svctest.Eventually(t, "a look at the lease", func() bool { return time.Since(began) > time.Second })
	c.SetDown(true)
	down := time.Now()
	svctest.Eventually(t, "the end of the outage", func() bool { return time.Since(down) > away })
	c.SetDown(false)
	l := svctest.Wait(t, "the server to lead", leads)
	defer l.Release(t.Context())
	took, b := time.Since(began), l.Before()
	if took < lease+away-time.Second/2 {
		t.Errorf("it leads after %s", took)
	}
	if ended := b.Ended.Sub(began); !b.Vanished || ended < kube.PermitTime || ended > kube.PermitTime+took-lease {
		t.Errorf("%t, permits end after %s", b.Vanished, ended)
	}
}

// TestTaken: a leader that finds another holder stops.
func TestTaken(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 0)
	l, err := kube.Lead(t.Context(), c.client, "svcctl", "a", quiet)
	if err != nil {
		t.Fatal(err)
	}
	c.Hold("svcctl", "thief")
	svctest.Wait(t, "the end of its leadership", l.Lost())
	l.Release(t.Context())
	if h := c.Lease("svcctl"); h != "thief" {
		t.Errorf("the release has changed the lease of %q", h)
	}
}

// TestAnnounce: the pod of the leader has the label, and no other. If the API server refuses it, the
// label follows.
func TestAnnounce(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	c.Add("server-0")
	c.Add("server-1")
	first, err := kube.Lead(t.Context(), c.client, "svcctl", "a", quiet)
	if err != nil {
		t.Fatal(err)
	}
	first.Announce(t.Context(), "server-0")
	if got := c.Labeled(kube.LeaderLabel); !slices.Equal(got, []string{"server-0"}) {
		t.Errorf("the label is at %q", got)
	}
	first.Release(t.Context())
	second, err := kube.Lead(t.Context(), c.client, "svcctl", "b", quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Release(t.Context())
	c.Refuse("patch pods", "not now")
	second.Announce(t.Context(), "server-1")
	if got := c.Labeled(kube.LeaderLabel); !slices.Equal(got, []string{"server-0"}) {
		t.Errorf("the label is at %q although Kubernetes refuses it", got)
	}
	c.Refuse("patch pods", "")
	svctest.Eventually(t, "the label at the new leader", func() bool { return slices.Equal(c.Labeled(kube.LeaderLabel), []string{"server-1"}) })
	for _, p := range c.Pods() {
		if cost, set := p.Annotations["controller.kubernetes.io/pod-deletion-cost"]; set != (p.Name == "server-1") {
			t.Errorf("the deletion of %s costs %q", p.Name, cost)
		}
	}
}

// TestTrust: a leader serves on without the API server as long as the object store says that it
// may, and stops when it does not.
func TestTrust(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 0)
	l, err := kube.Lead(t.Context(), c.client, "svcctl", "a", quiet)
	if err != nil {
		t.Fatal(err)
	}
	var asked, fenced atomic.Int32
	l.Trust(func() bool { asked.Add(1); return fenced.Load() == 0 })
	c.SetDown(true)
	svctest.Eventually(t, "the object store to be asked", func() bool { return asked.Load() > 1 })
	select {
	case <-l.Lost():
		t.Fatal("it stopped although it may serve")
	default:
	}
	fenced.Store(1)
	svctest.Wait(t, "the end of its leadership", l.Lost())
	c.SetDown(false)
	l.Release(t.Context())
}
