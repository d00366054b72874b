package kube

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"

	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/svcctl/svcctl/internal/svc"
)

const (
	// namespaceFile is where Kubernetes tells a pod its namespace.
	namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
	// qps and burst are above the rate of claims: with the library's 5 a second a claim waits.
	qps   = 200
	burst = 400
)

// silence has the library write nothing itself: the errors of watches are logged by ours.
//
//nolint:gochecknoglobals // the library has one logger for all
var silence = sync.OnceFunc(func() { klog.SetSlogLogger(slog.New(slog.DiscardHandler)) })

// Client speaks with the API server of a cluster about one namespace.
type Client struct {
	pods      rest.Interface
	leases    rest.Interface
	namespace string
}

// Connect returns a Client for the cluster of a kubeconfig file, or with "" for the one that this
// process runs in. It sends no request. namespace "" is the one of the file or of the pod.
func Connect(kubeconfig, namespace string) (*Client, error) {
	silence()
	cfg, own, err := clusterOf(kubeconfig)
	if err != nil {
		return nil, svc.Errorf(svc.Unavailable, svc.CodeClusterUnavailable, "no Kubernetes cluster is configured: %v", err).
			WithHint("run the server in a pod with a service account, or set SVC_K8S_KUBECONFIG").Because(err)
	}
	cfg.QPS, cfg.Burst, cfg.UserAgent = qps, burst, "svcctl"
	c := &Client{namespace: cmp.Or(namespace, own)}
	if c.namespace == "" {
		return nil, svc.Errorf(svc.Unprocessable, svc.CodeClusterUnavailable, "the namespace of the pods is unknown").WithHint("set SVC_K8S_NAMESPACE")
	}
	c.pods, err = group(*cfg, "/api", core.SchemeGroupVersion, core.AddToScheme)
	if err == nil {
		c.leases, err = group(*cfg, "/apis", coordination.SchemeGroupVersion, coordination.AddToScheme)
	}
	return c, err
}

func clusterOf(kubeconfig string) (cfg *rest.Config, namespace string, err error) {
	if kubeconfig == "" {
		if cfg, err = rest.InClusterConfig(); err != nil {
			return nil, "", err
		}
		text, _ := os.ReadFile(namespaceFile) // it may be set
		return cfg, strings.TrimSpace(string(text)), nil
	}
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(&clientcmd.ClientConfigLoadingRules{ExplicitPath: kubeconfig}, nil)
	if cfg, err = loader.ClientConfig(); err == nil {
		namespace, _, err = loader.Namespace()
	}
	return cfg, namespace, err
}

// group returns a client for the types of one API group alone: the clientset of the library links
// every group, 20 MB of code.
func group(cfg rest.Config, path string, gv schema.GroupVersion, add func(*runtime.Scheme) error) (rest.Interface, error) { //nolint:ireturn // as the library has it
	scheme := runtime.NewScheme()
	if err := add(scheme); err != nil {
		return nil, err
	}
	meta.AddToGroupVersion(scheme, gv)
	meta.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	cfg.GroupVersion, cfg.APIPath = &gv, path
	cfg.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	return rest.RESTClientFor(&cfg)
}

func (c *Client) pod(ctx context.Context, name string) (*core.Pod, error) {
	pod := new(core.Pod)
	return pod, c.pods.Get().Namespace(c.namespace).Resource("pods").Name(name).Do(ctx).Into(pod)
}

// lister lists and watches the pods with a worker host, and reports each error.
func (c *Client) lister(report func(error)) *cache.ListWatch {
	request := func(o *meta.ListOptions) *rest.Request {
		o.LabelSelector = HostLabel + "=" + HostValue
		return c.pods.Get().Namespace(c.namespace).Resource("pods").VersionedParams(o, meta.ParameterCodec)
	}
	reported := func(ctx context.Context, err error) error {
		if err != nil && ctx.Err() == nil {
			report(err)
		}
		return err
	}
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o meta.ListOptions) (runtime.Object, error) {
			list := new(core.PodList)
			return list, reported(ctx, request(&o).Do(ctx).Into(list))
		},
		WatchFuncWithContext: func(ctx context.Context, o meta.ListOptions) (watch.Interface, error) {
			o.Watch = true
			w, err := request(&o).Watch(ctx)
			if o.SendInitialEvents != nil && apierrors.IsInvalid(err) {
				return w, err // a cluster that lists in the older way
			}
			return w, reported(ctx, err)
		},
	}
}

// patch applies a JSON patch to a pod.
func (c *Client) patch(ctx context.Context, name string, operations []operation) (*core.Pod, error) {
	patch, err := json.Marshal(operations)
	if err != nil {
		return nil, err
	}
	pod := new(core.Pod)
	return pod, c.pods.Patch(types.JSONPatchType).Namespace(c.namespace).Resource("pods").Name(name).Body(patch).Do(ctx).Into(pod)
}

// remove deletes a pod immediately: nothing of a version that is to stay is in it. A pod of
// another uid with its name stays, and one without a version that was changed, perhaps claimed, since it was
// seen: then deleted is false.
func (c *Client) remove(ctx context.Context, pod *core.Pod) (deleted bool, err error) {
	now := int64(0)
	still := &meta.Preconditions{UID: &pod.UID}
	if _, claimed := owner(pod); !claimed {
		still.ResourceVersion = &pod.ResourceVersion
	}
	err = c.pods.Delete().Namespace(c.namespace).Resource("pods").Name(pod.Name).
		Body(&meta.DeleteOptions{GracePeriodSeconds: &now, Preconditions: still}).Do(ctx).Error()
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return false, nil
	}
	return err == nil, err
}

// warnings returns the events of the namespace that are warnings.
func (c *Client) warnings(ctx context.Context) ([]core.Event, error) {
	list := new(core.EventList)
	err := c.pods.Get().Namespace(c.namespace).Resource("events").VersionedParams(&meta.ListOptions{FieldSelector: "type=Warning", Limit: 500}, meta.ParameterCodec).Do(ctx).Into(list)
	return list.Items, err
}

// keys returns the public keys of the cluster's service account tokens (a JWK set), and who issues
// them.
func (c *Client) keys(ctx context.Context) (set []byte, issuer string, err error) {
	var discovery struct {
		Issuer string `json:"issuer"`
	}
	text, err := c.pods.Get().AbsPath("/.well-known/openid-configuration").DoRaw(ctx)
	if err == nil {
		err = decode(text, &discovery)
	}
	if err == nil && discovery.Issuer == "" {
		err = errors.New("the cluster names no issuer of service account tokens")
	}
	if err == nil {
		set, err = c.pods.Get().AbsPath("/openid/v1/jwks").DoRaw(ctx)
	}
	return set, discovery.Issuer, err
}

// refused turns an error of the API server into one of ours, in its words.
func refused(what string, err error) error {
	switch {
	case err == nil:
		return nil
	case apierrors.IsNotFound(err), apierrors.IsConflict(err), apierrors.IsInvalid(err), apierrors.IsGone(err):
		return svc.Errorf(svc.Conflict, svc.CodePodTaken, "%s: %v", what, err).WithHint("nothing: the server takes another pod").Because(err)
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return svc.Errorf(svc.Unavailable, svc.CodeClusterForbidden, "%s: Kubernetes refuses it: %v", what, err).
			WithHint("give the server's service account the Role that svcctl admin manifests kubernetes prints; a quota or an admission policy of the namespace may also refuse it").Because(err)
	}
	return svc.Errorf(svc.Unavailable, svc.CodeClusterUnavailable, "%s: %v", what, err).
		WithHint("check that the server reaches the API server of the cluster; versions that run serve on").Because(err)
}

// named says for which pod something failed.
func named(verb, pod string) string { return fmt.Sprintf("%s the pod %s", verb, pod) }

// resize changes the resources of a running pod by a strategic merge patch.
func (c *Client) resize(ctx context.Context, name string, patch []byte) error {
	return c.pods.Patch(types.StrategicMergePatchType).Namespace(c.namespace).Resource("pods").Name(name).SubResource("resize").Body(patch).Do(ctx).Error()
}
