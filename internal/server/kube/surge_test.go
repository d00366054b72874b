package kube_test

import (
	"slices"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/svcctl/svcctl/internal/server/kube"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// machines are what answers in a test.
type machines chan []svc.Node

func newMachines() machines {
	m := make(machines, 1)
	m <- nil
	return m
}

func (m machines) list() []svc.Node { now := <-m; m <- now; return now }

// answer has the pods answer now, and others no more.
func (m machines) answer(pods ...core.Pod) {
	var list []svc.Node
	for _, p := range pods {
		list = append(list, svc.Node{ID: string(p.UID), Node: p.Spec.NodeName, Spares: 1, AnsweredAt: time.Now().Add(time.Hour)})
	}
	<-m
	m <- list
}

// TestSurge: while more spares are wanted than the Deployment has, as many more pods start; what is not
// needed any more is deleted, except for a pod that a version has.
func TestSurge(t *testing.T) {
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

// TestSurgeWarm: a pod that has joined counts as one that starts until it has a worker host.
func TestSurgeWarm(t *testing.T) {
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

// TestSurgeBounds: the pods of a lost node and those that do not start stay with the Deployment: taken out of it
// they would be replaced again and again.
func TestSurgeBounds(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	m := newMachines()
	old := func(pod *core.Pod) { pod.CreationTimestamp = meta.NewTime(time.Now().Add(-time.Hour)) }
	pods := c.Pods()
	for _, pod := range pods {
		c.Change(pod.Name, old)
	}
	m.answer(pods[0]) // that of a lost node is silent, and so is one that never started
	p := c.watch(t, func(cfg *kube.Config) { cfg.Machines, cfg.Surplus = m.list, svctest.Patience })
	p.Want(2)
	svctest.Eventually(t, "two more pods", func() bool { return len(c.Pods()) == 5 })
	for _, pod := range pods[1:] {
		if slices.Contains(c.Labeled(kube.ExtraLabel), pod.Name) {
			t.Errorf("%s was taken", pod.Name)
		}
	}
}
