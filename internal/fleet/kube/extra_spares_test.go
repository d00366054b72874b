package kube_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/svcctl/svcctl/internal/fleet/kube"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// answering is what answers in a test.
type answering chan []svc.Node

func newMachines() answering {
	m := make(answering, 1)
	m <- nil
	return m
}

func (m answering) list() []svc.Node { now := <-m; m <- now; return now }

// answer has the pods answer now, and others no more.
func (m answering) answer(pods ...core.Pod) {
	var list []svc.Node
	for _, p := range pods {
		list = append(list, svc.Node{ID: string(p.UID), Node: p.Spec.NodeName, Spares: 1, AnsweredAt: time.Now().Add(time.Hour)})
	}
	<-m
	m <- list
}

// TestExtraSpares: while more spares are wanted than the Deployment has, as many more pods start; what is not
// needed any more is deleted, except for a pod that a version has.
func TestExtraSpares(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	m := newMachines()
	m.answer(c.Pods()...)
	p := c.watch(t, func(cfg *kube.Config) {
		cfg.Machines, cfg.Surplus, cfg.Idle = m.list, time.Nanosecond, svctest.Patience
	})
	extra := func() int { return len(c.Labeled(kube.ExtraLabel)) }
	p.Want(5)
	svctest.Eventually(t, "five more pods", func() bool { return len(c.Pods()) == 7 && extra() == 5 })
	taken := c.Labeled(kube.ExtraLabel)[0]
	for _, pod := range c.Pods() {
		if pod.Name != taken {
			continue
		}
		if err := p.Claim(t.Context(), spec("v1"), string(pod.UID)); err != nil {
			t.Fatal(err)
		}
		if err := p.Replace(t.Context(), spec("v1"), string(pod.UID)); err != nil {
			t.Fatal(err)
		}
	}
	p.Want(0)
	svctest.Eventually(t, "the others to be deleted", func() bool { return len(c.Pods()) == 3 })
	if pod := c.PodOf("shop", "v1"); pod == nil || pod.Name != taken {
		t.Errorf("the version has %v", pod)
	}
}

// TestExtraSparesWarm: a pod that has joined counts as one that starts until it has a worker host.
func TestExtraSparesWarm(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	m := newMachines()
	p := c.watch(t, func(cfg *kube.Config) { cfg.Machines, cfg.Surplus = m.list, svctest.Patience })
	m.answer(c.Pods()...)
	list := <-m
	for i := range list {
		list[i].Spares = 0
	}
	m <- list
	p.Want(3)
	svctest.Eventually(t, "one more pod", func() bool { return len(c.Pods()) == 3 })
	p.Want(4)
	svctest.Eventually(t, "a second", func() bool { return len(c.Pods()) == 4 })
	if taken := c.Labeled(kube.ExtraLabel); len(taken) != 2 {
		t.Errorf("taken: %v", taken)
	}
}

// silent is a cluster with spares which are old. The first ones are claimed; none answers.
func silent(t *testing.T, spares, claimed int) (*cluster, answering, *kube.Pods) {
	t.Helper()
	c := newCluster(t, spares)
	m := newMachines()
	p := c.watch(t, func(cfg *kube.Config) {
		cfg.Machines, cfg.Surplus, cfg.Idle, cfg.Settle = m.list, svctest.Patience, svctest.Patience, svctest.Patience
	})
	for i := range claimed {
		pod := c.pod("spare-" + strconv.Itoa(i+1))
		err := p.Claim(t.Context(), spec("v"+strconv.Itoa(i)), string(pod.UID))
		if err == nil {
			err = p.Replace(t.Context(), spec("v"+strconv.Itoa(i)), string(pod.UID))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, pod := range c.Pods() {
		c.Change(pod.Name, func(p *core.Pod) { p.CreationTimestamp = meta.NewTime(time.Now().Add(-time.Hour)) })
	}
	svctest.Eventually(t, "the watch", func() bool { return claimed == 0 || p.Has(spec("v"+strconv.Itoa(claimed-1)).Ref) != nil })
	return c, m, p
}

func (c *cluster) pod(name string) core.Pod {
	for _, p := range c.Pods() {
		if p.Name == name {
			return p
		}
	}
	return core.Pod{}
}

// TestExtraSparesOfLostNode: a spare of a node whose version is silent is replaced, as none that has joined: the
// Deployment would make no other. One that never started stays: taken out it would be replaced again and again.
func TestExtraSparesOfLostNode(t *testing.T) {
	t.Parallel()
	c, m, p := silent(t, 5, 1) // the first one is on node2
	m.answer(c.pod("spare-2")) // on node3
	p.Want(2)
	svctest.Eventually(t, "two more pods", func() bool { return len(c.Pods()) == 8 })
	if taken := c.Labeled(kube.ExtraLabel); !slices.Equal(taken, []string{"spare-2", "spare-4"}) { // that on node2, and the one that has joined
		t.Errorf("taken: %v", taken)
	}
}

// TestExtraSparesBounds: while all nodes are lost, no pods are made without end.
func TestExtraSparesBounds(t *testing.T) {
	t.Parallel()
	c, _, p := silent(t, 3, 3)
	p.Want(1)
	svctest.Eventually(t, "extra pods", func() bool { return len(c.Labeled(kube.ExtraLabel)) == 4 })
	<-time.After(time.Second) // ten more looks
	if n := len(c.Labeled(kube.ExtraLabel)); n != 4 {
		t.Errorf("%d pods were taken", n)
	}
}
