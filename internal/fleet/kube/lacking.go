package kube

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
)

// lackEvery is the interval at which the reasons are read while spare pods are missing.
const lackEvery = 5 * time.Second

// recent is the age up to which an event counts as a reason.
const recent = 5 * time.Minute

// lack is what is known of spare pods that are not ready.
type lack struct {
	text string
	read time.Time
}

// Lacking says why spare pods are missing, in the words of Kubernetes.
func (p *Pods) Lacking() string {
	if why := p.waiting(); why != "" {
		return why
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lack.text != "" {
		return p.lack.text
	}
	if len(p.all()) == 0 {
		return "the namespace " + p.cfg.Client.namespace + " has no pod with a worker host"
	}
	return "every pod with a worker host has a version, or has not joined"
}

// waiting says why a spare pod that exists does not start.
func (p *Pods) waiting() string {
	for _, pod := range p.all() {
		if _, claimed := owner(pod); claimed || pod.DeletionTimestamp != nil {
			continue
		}
		for _, c := range pod.Status.Conditions {
			if c.Type == core.PodScheduled && c.Status == core.ConditionFalse {
				return fmt.Sprintf("the spare pod %s has no node: %s", pod.Name, c.Message)
			}
		}
		for _, c := range pod.Status.ContainerStatuses {
			if w := c.State.Waiting; w != nil && w.Reason != "ContainerCreating" && w.Reason != "PodInitializing" {
				return strings.TrimSuffix(fmt.Sprintf("the spare pod %s waits: %s: %s", pod.Name, w.Reason, w.Message), ": ")
			}
		}
	}
	return ""
}

// watchLack reads the warnings of the namespace while there is no spare pod: a quota or an
// admission policy shows only there that it refuses pods.
func (p *Pods) watchLack(ctx context.Context) {
	tick := time.NewTicker(lackEvery)
	defer tick.Stop()
	for {
		text := ""
		if !p.hasSpare() {
			list, err := p.cfg.Client.warnings(ctx)
			if err == nil {
				text = newest(list, time.Now())
			} else if ctx.Err() == nil {
				text = refused("reading the events of the namespace", err).Error()
			}
		}
		p.mu.Lock()
		p.lack = lack{text, time.Now()}
		p.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (p *Pods) hasSpare() bool {
	return slices.ContainsFunc(p.all(), func(pod *core.Pod) bool {
		_, claimed := owner(pod)
		return !claimed && pod.DeletionTimestamp == nil
	})
}

// newest returns the last reason for which a pod could not be made.
func newest(list []core.Event, now time.Time) string {
	text, at := "", now.Add(-recent)
	for _, e := range list {
		last := e.LastTimestamp.Time
		if last.IsZero() {
			last = e.EventTime.Time
		}
		if (e.InvolvedObject.Kind == "ReplicaSet" || e.InvolvedObject.Kind == "Pod") && last.After(at) {
			text, at = fmt.Sprintf("Kubernetes says of %s %s: %s: %s", e.InvolvedObject.Kind, e.InvolvedObject.Name, e.Reason, e.Message), last
		}
	}
	return text
}
