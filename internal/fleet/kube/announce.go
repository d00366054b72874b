package kube

import (
	"context"
	"encoding/json"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// LeaderLabel is "true" at the pod of the server that leads. Services select it: readiness would
// keep the pod of a lost node in them until Kubernetes notices the loss, 40 s later.
const LeaderLabel = "svcctl.dev/leader"

// deletionCost has Kubernetes end standbys before the leader when it replaces their pods, so that a
// rolling update changes the leader once.
const deletionCost = "controller.kubernetes.io/pod-deletion-cost"

// announceCall is the limit of an announcement between two renewals.
const announceCall = time.Second

// Announce moves LeaderLabel to the pod with this name, that of this server. If the API server does
// not take it, the label follows with a later renewal of the lease.
func (l *Leadership) Announce(ctx context.Context, pod string) {
	if err := l.announce(ctx, pod); err != nil {
		l.log.WarnContext(ctx, "labeling the pod of the leader failed; retrying", "pod", pod, "error", err)
		l.unannounced.Store(&pod)
	}
}

// announceAgain repeats an announcement that has failed.
func (l *Leadership) announceAgain(ctx context.Context) {
	if pod := l.unannounced.Load(); pod != nil && l.announce(ctx, *pod) == nil {
		l.unannounced.Store(nil)
	}
}

func (l *Leadership) announce(ctx context.Context, pod string) error {
	ctx, cancel := context.WithTimeout(ctx, announceCall)
	defer cancel()
	list := new(core.PodList)
	options := &meta.ListOptions{LabelSelector: LeaderLabel}
	if err := l.client.pods.Get().Namespace(l.client.namespace).Resource("pods").VersionedParams(options, meta.ParameterCodec).Do(ctx).Into(list); err != nil {
		return err
	}
	for _, p := range list.Items {
		if p.Name == pod {
			continue
		}
		if err := l.client.mark(ctx, p.Name, nil, nil); err != nil && !gone(err) {
			return err
		}
	}
	leads, cost := "true", "1"
	return l.client.mark(ctx, pod, &leads, &cost)
}

// mark sets the label of the leader and the cost of a pod's deletion; nil removes them.
func (c *Client) mark(ctx context.Context, pod string, leads, cost *string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"labels": map[string]*string{LeaderLabel: leads}, "annotations": map[string]*string{deletionCost: cost},
	}})
	if err != nil {
		return err
	}
	return c.pods.Patch(types.MergePatchType).Namespace(c.namespace).Resource("pods").Name(pod).Body(patch).Do(ctx).Error()
}
