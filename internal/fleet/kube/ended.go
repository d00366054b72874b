package kube

import (
	"fmt"
	"strings"

	core "k8s.io/api/core/v1"
)

// Ended says why a pod or its container has ended, in the words of Kubernetes.
func (p *Pods) Ended(machine string) string {
	pod := p.find(machine)
	if pod == nil {
		return "its pod was deleted"
	}
	if pod.Status.Reason != "" { // Evicted, Preempting, NodeLost
		return words(pod.Name, pod.Status.Reason, pod.Status.Message)
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == core.DisruptionTarget && c.Status == core.ConditionTrue {
			return words(pod.Name, c.Reason, c.Message)
		}
	}
	for _, c := range pod.Status.ContainerStatuses {
		for _, s := range []core.ContainerState{c.State, c.LastTerminationState} {
			if e := s.Terminated; e != nil {
				return words(pod.Name, fmt.Sprintf("%s (exit code %d)", e.Reason, e.ExitCode), e.Message)
			}
		}
	}
	return ""
}

func words(pod, reason, message string) string {
	return strings.TrimSuffix(fmt.Sprintf("Kubernetes says of pod %s: %s: %s", pod, reason, message), ": ")
}
