package kubetest

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Namespace is the namespace of the server.
const Namespace = "workers"

// change is one of a pod, for watches.
type change struct {
	Type     string    `json:"type"`
	Object   *core.Pod `json:"object"`
	revision int64
}

// Server is the API server. It is safe for concurrent use.
type Server struct {
	http   *httptest.Server
	key    *rsa.PrivateKey
	begun  func(*core.Pod) // of Options
	ended  func(*core.Pod)
	labels map[string]string

	mu       sync.Mutex // guards the fields below
	revision int64
	made     int
	live     map[string]*core.Pod // by name
	leases   map[string]*coordination.Lease
	events   []core.Event
	log      []change
	news     chan struct{} // closed and replaced at each change
	expired  int64         // watches from before are gone
	spares   int
	down     bool
	refusals map[string]string // "patch pods" → words
}

// Options configure a Server.
type Options struct {
	Spares int
	// Begun and Ended are called for each pod, without a lock. They may be nil.
	Begun, Ended func(*core.Pod)
}

// New starts a Server, which ends with the test.
func New(t *testing.T, o Options) *Server {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{
		key: key, begun: o.Begun, ended: o.Ended, live: map[string]*core.Pod{}, leases: map[string]*coordination.Lease{}, news: make(chan struct{}), refusals: map[string]string{},
		labels: map[string]string{"app.kubernetes.io/component": "host", "svcctl.dev/spare": "true"},
	}
	s.http = httptest.NewServer(s.routes())
	t.Cleanup(func() {
		s.Expire()
		s.http.CloseClientConnections()
		s.http.Close()
	})
	s.Scale(o.Spares)
	return s
}

// Kubeconfig writes a file with which a client reaches the server.
func (s *Server) Kubeconfig(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: %q}}]\nusers: [{name: u, user: {token: t}}]\n"+
		"contexts: [{name: x, context: {cluster: c, user: u, namespace: %s}}]\ncurrent-context: x\n", s.http.URL, Namespace)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Scale sets how many spare pods there are to be.
func (s *Server) Scale(n int) {
	s.mu.Lock()
	s.spares = n
	s.mu.Unlock()
	s.settle()
}

// settle makes the spare pods that are missing.
func (s *Server) settle() {
	for {
		s.mu.Lock()
		n := 0
		for _, p := range s.live {
			if p.Labels["svcctl.dev/spare"] != "" && p.DeletionTimestamp == nil {
				n++
			}
		}
		if n >= s.spares || s.refusals["create pods"] != "" {
			s.mu.Unlock()
			return
		}
		p := s.newPod()
		s.mu.Unlock()
		if s.begun != nil {
			s.begun(p)
		}
	}
}

// newPod needs s.mu.
func (s *Server) newPod() *core.Pod {
	s.made++
	p := &core.Pod{
		TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: meta.ObjectMeta{
			Name: "spare-" + strconv.Itoa(s.made), Namespace: Namespace, UID: types.UID("uid-" + rand.Text()[:12]), Labels: maps.Clone(s.labels), CreationTimestamp: meta.Now(),
			OwnerReferences: []meta.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "spare", UID: "rs"}},
		},
		Spec: core.PodSpec{NodeName: "node" + strconv.Itoa(s.made%3+1), Containers: []core.Container{{Name: "host"}}},
	}
	s.live[p.Name] = p
	s.changed("ADDED", p)
	return p.DeepCopy()
}

// Add adds a pod that is no spare, such as one of a server.
func (s *Server) Add(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &core.Pod{
		TypeMeta:   meta.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: meta.ObjectMeta{Name: name, Namespace: Namespace, UID: types.UID("uid-" + name), Labels: map[string]string{"app.kubernetes.io/component": "control-plane"}},
	}
	s.live[name] = p
	s.changed("ADDED", p)
}

// Labeled returns the names of the pods that have a label.
func (s *Server) Labeled(label string) (names []string) {
	for _, p := range s.Pods() {
		if p.Labels[label] != "" {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return names
}

// changed needs s.mu.
func (s *Server) changed(kind string, p *core.Pod) {
	s.revision++
	p.ResourceVersion = strconv.FormatInt(s.revision, 10)
	s.log = append(s.log, change{kind, p.DeepCopy(), s.revision})
	close(s.news)
	s.news = make(chan struct{})
}

// Pods returns all pods.
func (s *Server) Pods() (list []core.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.live {
		list = append(list, *p.DeepCopy())
	}
	return list
}

// PodOf returns the pod of a version, nil for none.
func (s *Server) PodOf(project, version string) *core.Pod {
	for _, p := range s.Pods() {
		if p.Labels["svcctl.dev/project"] == project && p.Labels["svcctl.dev/version"] == version && p.DeletionTimestamp == nil {
			return &p
		}
	}
	return nil
}

// Change changes a pod.
func (s *Server) Change(name string, f func(*core.Pod)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.live[name]; p != nil {
		f(p)
		s.changed("MODIFIED", p)
	}
}

// Evict begins the deletion of a pod with grace, as kubectl drain does. Finish ends it.
func (s *Server) Evict(name string) {
	s.Change(name, func(p *core.Pod) { now := meta.Now(); p.DeletionTimestamp = &now })
	s.settle()
}

// Remove deletes a pod immediately.
func (s *Server) Remove(name string) {
	s.mu.Lock()
	p := s.live[name]
	delete(s.live, name)
	if p != nil {
		s.changed("DELETED", p)
	}
	s.mu.Unlock()
	if p != nil && s.ended != nil {
		s.ended(p)
	}
	s.settle()
}

// SetDown refuses every request while it is down.
func (s *Server) SetDown(down bool) {
	s.mu.Lock()
	s.down = down
	s.mu.Unlock()
	if down {
		s.http.CloseClientConnections()
	}
}

// Refuse answers "verb resource", such as "patch pods", with 403 and these words; "" ends that.
func (s *Server) Refuse(what, words string) {
	s.mu.Lock()
	s.refusals[what] = words
	s.mu.Unlock()
	s.settle()
}

// Expire ends all watches: their revision is too old.
func (s *Server) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revision++
	s.expired = s.revision
	close(s.news)
	s.news = make(chan struct{})
}

// Warn adds an event of a ReplicaSet.
func (s *Server) Warn(reason, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, core.Event{
		InvolvedObject: core.ObjectReference{Kind: "ReplicaSet", Name: "svcctl-spare"}, Type: "Warning", Reason: reason, Message: message, LastTimestamp: meta.Now(),
	})
}

// Lease returns the holder of a lease.
func (s *Server) Lease(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.leases[name]; l != nil && l.Spec.HolderIdentity != nil {
		return *l.Spec.HolderIdentity
	}
	return ""
}

// status answers with a Status.
func status(w http.ResponseWriter, code int, reason meta.StatusReason, words string) {
	reply(w, code, meta.Status{TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Code: int32(code), Reason: reason, Message: words}) //nolint:gosec // a status code
}

func reply(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // a client that is gone needs none
}

// refused answers what Refuse and SetDown are for.
func (s *Server) refused(w http.ResponseWriter, r *http.Request) bool {
	s.mu.Lock()
	down := s.down
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	verb := strings.ToLower(r.Method)
	words := ""
	for _, p := range parts {
		if m := s.refusals[verb+" "+p]; m != "" {
			words = m
		}
	}
	s.mu.Unlock()
	switch {
	case down:
		status(w, http.StatusServiceUnavailable, meta.StatusReasonServiceUnavailable, "the API server is away")
	case words != "":
		status(w, http.StatusForbidden, meta.StatusReasonForbidden, words)
	default:
		return false
	}
	return true
}

// Hold gives a lease to a holder.
func (s *Server) Hold(name, holder string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.leases[name]; l != nil {
		next := l.DeepCopy()
		next.Spec.HolderIdentity = &holder
		s.store(next)
	}
}
