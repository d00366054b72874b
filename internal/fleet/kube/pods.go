package kube

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"github.com/svcctl/svcctl/internal/fleet/machines"
	"github.com/svcctl/svcctl/internal/svc"
)

// The labels of pods.
const (
	SpareLabel   = "svcctl.dev/spare"   // "true" in the selector of the Deployment of spare pods
	ProjectLabel = "svcctl.dev/project" // of the version that has the pod
	VersionLabel = "svcctl.dev/version"
	// HostLabel and HostValue select all pods with a worker host.
	HostLabel = "app.kubernetes.io/component"
	HostValue = "host"
)

// Audience is that of the tokens by which pods prove who they are.
const Audience = "svcctl"

// The pause after a watch that failed grows from one to the other: while it lasts new spare pods are
// unknown.
const (
	firstRetry = 100 * time.Millisecond
	lastRetry  = 2 * time.Second
)

// uidIndex finds a pod by its uid, which is the identity of the machine.
const uidIndex = "uid"

// Config configures Pods. The zero values of durations mean the defaults.
type Config struct {
	Logger *slog.Logger
	Client *Client
	// Account is the name of the service account of pods with a worker host; default svcctl-host.
	Account string
	// MemoryMB is the limit of a pod after its claim; 0 leaves the one of the template.
	MemoryMB int
	// Machines returns the machines that have a line: pods without a version are deleted, and spares are
	// started for those that are missing.
	Machines func() []svc.Node
	// Idle is how long a pod that was claimed may be without its version; default 5 s.
	Idle time.Duration
	// Silence is the time after which a machine that has not answered is lost; default
	// fleet.DefaultSilence.
	Silence time.Duration
	// Surplus is how long a pod is kept that was started for a version which does not need it any more;
	// default 30 s.
	Surplus time.Duration
	// Settle is the time after the start in which pods of an earlier server dial again; default 1m.
	Settle time.Duration
}

// Pods is the machines.Policy for the pods of a namespace. Create it with Watch.
type Pods struct {
	cfg     Config
	pods    cache.Indexer
	keys    keyring
	started time.Time
	cancel  context.CancelFunc
	tasks   sync.WaitGroup
	want    atomic.Int64  // how many more spares are needed than wait
	wanted  chan struct{} // gets a value when want has changed

	mu   sync.Mutex           // guards the fields below
	idle map[string]time.Time // since when a claimed pod has no version, by uid, and an extra one is not wanted, by extraKey
	seen map[string]bool      // uids of pods that have joined this server
	lack lack
}

// Watch watches the pods until Stop. It returns when it knows them, or the reason why the API server
// does not tell it.
func Watch(ctx context.Context, c Config) (*Pods, error) {
	if c.Logger == nil || c.Client == nil || c.Machines == nil {
		return nil, errors.New("kube: logger, client and machines required")
	}
	c.Account, c.Idle, c.Settle = cmp.Or(c.Account, "svcctl-host"), cmp.Or(c.Idle, 5*time.Second), cmp.Or(c.Settle, time.Minute)
	c.Surplus, c.Silence = cmp.Or(c.Surplus, 30*time.Second), cmp.Or(c.Silence, machines.DefaultSilence)
	p := &Pods{cfg: c, started: time.Now(), wanted: make(chan struct{}, 1), idle: map[string]time.Time{}, seen: map[string]bool{}}
	p.keys.client = c.Client
	p.pods = cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{uidIndex: func(o any) ([]string, error) {
		if pod, ok := o.(*core.Pod); ok {
			return []string{string(pod.UID)}, nil
		}
		return nil, nil
	}})
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p.cancel = cancel
	failed := make(chan error, 1)
	r := cache.NewReflectorWithOptions(c.Client.lister(func(err error) {
		c.Logger.WarnContext(own, "watching the pods of the namespace failed; retrying", "error", err)
		select {
		case failed <- err:
		default:
		}
	}), new(core.Pod), p.pods, cache.ReflectorOptions{Backoff: &wait.Backoff{Duration: firstRetry, Factor: 2, Jitter: 0.2, Steps: 1 << 20, Cap: lastRetry}})
	p.tasks.Go(func() { r.RunWithContext(own) })
	if err := p.synced(ctx, r, failed); err != nil {
		p.Stop()
		return nil, err
	}
	p.tasks.Go(func() { p.watchLack(own) })
	p.tasks.Go(func() { p.reap(own) })
	p.tasks.Go(func() { p.extraSpares(own) })
	return p, nil
}

// synced waits until all pods are known.
func (p *Pods) synced(ctx context.Context, r *cache.Reflector, failed <-chan error) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for r.LastSyncResourceVersion() == "" {
		select {
		case err := <-failed:
			return refused("listing the pods of the namespace "+p.cfg.Client.namespace, err)
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
	return nil
}

// Stop ends the watch. Pods stay.
func (p *Pods) Stop() {
	p.cancel()
	p.tasks.Wait()
}

// find returns the pod with a uid as last seen, nil for none.
func (p *Pods) find(uid string) *core.Pod {
	list, _ := p.pods.ByIndex(uidIndex, uid) // the index exists
	for _, o := range list {
		if pod, ok := o.(*core.Pod); ok {
			return pod
		}
	}
	return nil
}

// all returns every pod as last seen.
func (p *Pods) all() (list []*core.Pod) {
	for _, o := range p.pods.List() {
		if pod, ok := o.(*core.Pod); ok {
			list = append(list, pod)
		}
	}
	return list
}

// owner returns the version that has a pod; false for a spare.
func owner(pod *core.Pod) (svc.Ref, bool) {
	ref := svc.Ref{Project: pod.Labels[ProjectLabel], Version: pod.Labels[VersionLabel]}
	return ref, ref != svc.Ref{}
}

func decode(text []byte, into any) error { return json.Unmarshal(text, into) }
