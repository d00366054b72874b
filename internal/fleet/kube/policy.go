package kube

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/svcctl/svcctl/internal/fleet/machines"
	"github.com/svcctl/svcctl/internal/svc"
)

var _ machines.Policy = (*Pods)(nil)

// Choose prefers the pod that has the version's files, else one on the node with the fewest versions.
func (p *Pods) Choose(ref svc.Ref, last string, spares []machines.Spare) int {
	load := p.load()
	best, fewest := -1, 0
	for i, s := range spares {
		pod := p.find(s.Machine)
		if pod == nil || pod.DeletionTimestamp != nil {
			continue
		}
		if of, claimed := owner(pod); claimed {
			if of == ref {
				return i // its own pod, whose host has crashed
			}
			continue
		}
		if s.Machine == last {
			return i
		}
		if n := load[pod.Spec.NodeName]; best < 0 || n < fewest {
			best, fewest = i, n
		}
	}
	return best
}

// load counts the versions of each node.
func (p *Pods) load() map[string]int {
	n := map[string]int{}
	for _, pod := range p.all() {
		if _, claimed := owner(pod); claimed {
			n[pod.Spec.NodeName]++
		}
	}
	return n
}

// operation is one of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// Claim labels a pod with its version. Two servers cannot claim one pod: the patch tests the revision of
// the pod that was read. The pod stays one of the Deployment of spares until Replace: a start of another
// pod on the same node would delay the version's.
func (p *Pods) Claim(ctx context.Context, spec svc.RuntimeSpec, machine string) error {
	pod := p.find(machine)
	if pod == nil {
		return svc.Errorf(svc.Conflict, svc.CodePodTaken, "the pod of a spare worker host is gone").WithHint("nothing: the server takes another pod")
	}
	for retry := false; ; retry = true {
		if of, claimed := owner(pod); claimed {
			if of != spec.Ref {
				return svc.Errorf(svc.Conflict, svc.CodePodTaken, "the pod %s has version %s", pod.Name, of).WithHint("nothing: the server takes another pod")
			}
			return nil
		}
		_, err := p.cfg.Client.patch(ctx, pod.Name, claimOf(pod, spec.Ref))
		if err == nil {
			return nil
		}
		// The kubelet writes the status of a pod at any time: the revision that the watch has
		// seen is old then.
		if retry || !apierrors.IsInvalid(err) && !apierrors.IsConflict(err) {
			return refused(named("claiming", pod.Name), err)
		}
		fresh, err := p.current(ctx, pod)
		if err != nil {
			return err
		}
		if fresh == nil || fresh.DeletionTimestamp != nil {
			return svc.Errorf(svc.Conflict, svc.CodePodTaken, "the pod %s was deleted", pod.Name).WithHint("nothing: the server takes another pod")
		}
		pod = fresh
	}
}

func claimOf(pod *core.Pod, ref svc.Ref) []operation {
	return []operation{
		{"test", "/metadata/resourceVersion", pod.ResourceVersion},
		{"test", "/metadata/uid", string(pod.UID)},
		{"add", "/metadata/labels/" + escape(ProjectLabel), ref.Project},
		{"add", "/metadata/labels/" + escape(VersionLabel), ref.Version},
	}
}

// Replace takes a claimed pod out of the Deployment of spares, which starts another one, and gives it
// the memory of its version.
func (p *Pods) Replace(ctx context.Context, spec svc.RuntimeSpec, machine string) error {
	pod := p.find(machine)
	for again := false; pod != nil && (pod.Labels[SpareLabel] != "" || len(pod.OwnerReferences) > 0); again = true {
		patched, err := p.cfg.Client.patch(ctx, pod.Name, replacementOf(pod))
		switch {
		case err == nil:
			pod = patched
		case again || !apierrors.IsInvalid(err):
			return refused(named("replacing", pod.Name), err)
		default: // the watch has not seen an earlier call yet
			if pod, err = p.current(ctx, pod); err != nil {
				return err
			}
		}
	}
	if pod != nil {
		p.resize(ctx, pod, spec)
	}
	return nil
}

// current reads a pod again; nil if it is gone.
func (p *Pods) current(ctx context.Context, pod *core.Pod) (*core.Pod, error) {
	fresh, err := p.cfg.Client.pod(ctx, pod.Name)
	switch {
	case gone(err) || err == nil && fresh.UID != pod.UID:
		return nil, nil // none is no error
	case err != nil:
		return nil, refused(named("reading", pod.Name), err)
	}
	return fresh, nil
}

func replacementOf(pod *core.Pod) []operation {
	patch := []operation{{"test", "/metadata/uid", string(pod.UID)}}
	if pod.Labels[SpareLabel] != "" {
		patch = append(patch, operation{Op: "remove", Path: "/metadata/labels/" + escape(SpareLabel)})
	}
	if len(pod.OwnerReferences) > 0 {
		patch = append(patch, operation{Op: "remove", Path: "/metadata/ownerReferences"})
	}
	return patch
}

// escape makes a label a part of a JSON pointer.
func escape(label string) string { return strings.ReplaceAll(label, "/", "~1") }

// resize gives the pod the memory of its version. A cluster before 1.33 cannot: the limit of the
// template stays.
func (p *Pods) resize(ctx context.Context, pod *core.Pod, spec svc.RuntimeSpec) {
	if p.cfg.MemoryMB <= 0 || len(pod.Spec.Containers) == 0 {
		return
	}
	limit := strconv.Itoa(p.cfg.MemoryMB) + "Mi"
	if now, ok := pod.Spec.Containers[0].Resources.Limits[core.ResourceMemory]; ok && now.Value() == int64(p.cfg.MemoryMB)<<20 {
		return
	}
	patch := map[string]any{"spec": map[string]any{"containers": []any{map[string]any{
		"name": pod.Spec.Containers[0].Name, "resources": map[string]any{"limits": map[string]string{string(core.ResourceMemory): limit}},
	}}}}
	text, err := json.Marshal(patch)
	if err == nil {
		err = p.cfg.Client.resize(ctx, pod.Name, text)
	}
	if err != nil {
		p.cfg.Logger.WarnContext(ctx, "the memory limit of a pod cannot be changed; the one of its template stays", "pod", pod.Name, "version", spec.Ref.String(), "error", err)
	}
}

// Has returns the pods that a version has claimed, without those that end.
func (p *Pods) Has(ref svc.Ref) (uids []string) {
	for _, pod := range p.all() {
		if of, claimed := owner(pod); claimed && of == ref && pod.DeletionTimestamp == nil {
			uids = append(uids, string(pod.UID))
		}
	}
	return uids
}

// Node returns the name of the node of a pod.
func (p *Pods) Node(machine string) string {
	if pod := p.find(machine); pod != nil {
		return pod.Spec.NodeName
	}
	return ""
}

func gone(err error) bool { return apierrors.IsNotFound(err) || apierrors.IsGone(err) }
