package kube

import (
	"context"
	"encoding/json"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/svcctl/svcctl/internal/lib/backoff"
)

// LeaderLabel is the label of the pod of the server that leads: Services of the control plane
// select it. It is no readiness: a standby is ready to take over.
const LeaderLabel = "svcctl.dev/leader"

// Announce labels the pod of this server as the one that leads, and takes the label from others. It
// tries until it succeeds, the lease is lost, or ctx ends.
func (l *Leadership) Announce(ctx context.Context, pod string) {
	for {
		err := l.announce(ctx, pod)
		if err == nil {
			l.log.InfoContext(ctx, "Services lead to this server now", "pod", pod)
			return
		}
		l.log.WarnContext(ctx, "the label of the pod that leads cannot be set; retrying", "pod", pod, "error", err)
		select {
		case <-l.lost:
			return
		default:
		}
		if backoff.Sleep(ctx, renewEvery) != nil {
			return
		}
	}
}

func (l *Leadership) announce(ctx context.Context, pod string) error {
	list := new(core.PodList)
	err := l.client.pods.Get().Namespace(l.client.namespace).Resource("pods").VersionedParams(&meta.ListOptions{LabelSelector: LeaderLabel}, meta.ParameterCodec).Do(ctx).Into(list)
	if err != nil {
		return refused("listing the pods with the label "+LeaderLabel, err)
	}
	for _, p := range list.Items {
		if p.Name != pod {
			if err := l.label(ctx, p.Name, operation{Op: "remove"}); err != nil && !gone(err) && !apierrors.IsInvalid(err) {
				return refused(named("taking the label from", p.Name), err)
			}
		}
	}
	if err := l.label(ctx, pod, operation{Op: "add", Value: "true"}); err != nil {
		return refused(named("labeling", pod), err)
	}
	return nil
}

func (l *Leadership) label(ctx context.Context, pod string, o operation) error {
	o.Path = "/metadata/labels/" + escape(LeaderLabel)
	patch, err := json.Marshal([]operation{o})
	if err == nil {
		_, err = l.client.patch(ctx, pod, patch)
	}
	return err
}
