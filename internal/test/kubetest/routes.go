package kubetest

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"

	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	pods, leases := "/api/v1/namespaces/"+Namespace+"/pods", "/apis/coordination.k8s.io/v1/namespaces/"+Namespace+"/leases"
	mux.HandleFunc("GET "+pods, s.listPods)
	mux.HandleFunc("GET "+pods+"/{name}", s.getPod)
	mux.HandleFunc("PATCH "+pods+"/{name}", s.patchPod)
	mux.HandleFunc("PATCH "+pods+"/{name}/resize", s.resizePod)
	mux.HandleFunc("DELETE "+pods+"/{name}", s.deletePod)
	mux.HandleFunc("GET /api/v1/namespaces/"+Namespace+"/events", func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		reply(w, http.StatusOK, core.EventList{TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "EventList"}, Items: s.events})
	})
	mux.HandleFunc("GET "+leases+"/{name}", s.getLease)
	mux.HandleFunc("POST "+leases, s.postLease)
	mux.HandleFunc("PUT "+leases+"/{name}", s.putLease)
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, map[string]string{"issuer": issuer})
	})
	mux.HandleFunc("GET /openid/v1/jwks", func(w http.ResponseWriter, _ *http.Request) { reply(w, http.StatusOK, s.keys()) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.refused(w, r) {
			mux.ServeHTTP(w, r)
		}
	})
}

// listPods lists or watches pods.
func (s *Server) listPods(w http.ResponseWriter, r *http.Request) {
	selector, err := labels.Parse(r.FormValue("labelSelector"))
	switch {
	case err != nil:
		status(w, http.StatusBadRequest, meta.StatusReasonBadRequest, err.Error())
	case r.FormValue("sendInitialEvents") != "":
		status(w, http.StatusUnprocessableEntity, meta.StatusReasonInvalid, "sendInitialEvents is not supported")
	case r.FormValue("watch") != "":
		s.watchPods(w, r, selector)
	default:
		s.mu.Lock()
		defer s.mu.Unlock()
		list := core.PodList{TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "PodList"}, ListMeta: meta.ListMeta{ResourceVersion: strconv.FormatInt(s.revision, 10)}}
		for _, p := range s.live {
			if selector.Matches(labels.Set(p.Labels)) {
				list.Items = append(list.Items, *p)
			}
		}
		reply(w, http.StatusOK, list)
	}
}

func (s *Server) watchPods(w http.ResponseWriter, r *http.Request, selector labels.Selector) {
	from, _ := strconv.ParseInt(r.FormValue("resourceVersion"), 10, 64) // 0 for all
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	out, to := json.NewEncoder(w), http.NewResponseController(w)
	for {
		_ = to.Flush() // the context says when the client is gone
		s.mu.Lock()
		var list []change
		for _, c := range s.log {
			if c.revision > from && selector.Matches(labels.Set(c.Object.Labels)) {
				list = append(list, c)
			}
		}
		expired, news, end := from < s.expired, s.news, s.revision
		s.mu.Unlock()
		if expired {
			_ = out.Encode(map[string]any{"type": "ERROR", "object": meta.Status{
				TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Code: http.StatusGone, Reason: meta.StatusReasonExpired, Message: "too old resource version",
			}})
			return
		}
		for _, c := range list {
			if out.Encode(c) != nil {
				return
			}
		}
		from = end
		if len(list) > 0 {
			continue
		}
		select {
		case <-news:
		case <-r.Context().Done():
			return
		}
	}
}

func (s *Server) getPod(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.live[r.PathValue("name")]
	if p == nil {
		status(w, http.StatusNotFound, meta.StatusReasonNotFound, "pods "+r.PathValue("name")+" not found")
		return
	}
	reply(w, http.StatusOK, p)
}

// mergePod applies a merge patch to labels and annotations.
func (s *Server) mergePod(w http.ResponseWriter, r *http.Request) {
	var patch struct {
		Metadata struct {
			Labels      map[string]*string `json:"labels"`
			Annotations map[string]*string `json:"annotations"`
		} `json:"metadata"`
	}
	if err := json.NewDecoder(r.Body).Decode(&patch); err != nil {
		status(w, http.StatusBadRequest, meta.StatusReasonBadRequest, err.Error())
		return
	}
	merge := func(now map[string]string, from map[string]*string) map[string]string {
		for name, value := range from {
			if value == nil {
				delete(now, name)
				continue
			}
			if now == nil {
				now = map[string]string{}
			}
			now[name] = *value
		}
		return now
	}
	s.Change(r.PathValue("name"), func(p *core.Pod) {
		p.Labels, p.Annotations = merge(p.Labels, patch.Metadata.Labels), merge(p.Annotations, patch.Metadata.Annotations)
	})
	s.getPod(w, r)
}

// patchPod applies a JSON patch to labels and owner references, whose tests must hold.
func (s *Server) patchPod(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Content-Type") == "application/merge-patch+json" {
		s.mergePod(w, r)
		return
	}
	var patch []struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	if err := json.NewDecoder(r.Body).Decode(&patch); err != nil {
		status(w, http.StatusBadRequest, meta.StatusReasonBadRequest, err.Error())
		return
	}
	s.mu.Lock()
	p := s.live[r.PathValue("name")]
	if p == nil {
		s.mu.Unlock()
		status(w, http.StatusNotFound, meta.StatusReasonNotFound, "pods "+r.PathValue("name")+" not found")
		return
	}
	next := p.DeepCopy()
	for _, o := range patch {
		label, isLabel := strings.CutPrefix(o.Path, "/metadata/labels/")
		label = strings.ReplaceAll(label, "~1", "/")
		text, _ := o.Value.(string)
		ok := true
		switch {
		case o.Op == "test" && o.Path == "/metadata/resourceVersion":
			ok = text == p.ResourceVersion
		case o.Op == "test" && o.Path == "/metadata/uid":
			ok = text == string(p.UID)
		case o.Op == "add" && isLabel:
			next.Labels[label] = text
		case o.Op == "remove" && isLabel:
			_, ok = next.Labels[label]
			delete(next.Labels, label)
		case o.Op == "remove" && o.Path == "/metadata/ownerReferences":
			next.OwnerReferences = nil
		default:
			ok = false
		}
		if !ok {
			s.mu.Unlock()
			status(w, http.StatusUnprocessableEntity, meta.StatusReasonInvalid, "the server rejected our request due to an error in our request: "+o.Op+" "+o.Path)
			return
		}
	}
	s.live[p.Name] = next
	s.changed("MODIFIED", next)
	answer := next.DeepCopy()
	s.mu.Unlock()
	reply(w, http.StatusOK, answer)
	s.settle()
}

// resizePod takes a merge patch of the resources of the first container.
func (s *Server) resizePod(w http.ResponseWriter, r *http.Request) {
	var patch struct {
		Spec core.PodSpec `json:"spec"`
	}
	text, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(text, &patch)
	}
	if err != nil || len(patch.Spec.Containers) != 1 {
		status(w, http.StatusBadRequest, meta.StatusReasonBadRequest, "a patch of one container expected")
		return
	}
	s.Change(r.PathValue("name"), func(p *core.Pod) { p.Spec.Containers[0].Resources.Limits = patch.Spec.Containers[0].Resources.Limits })
	s.getPod(w, r)
}

func (s *Server) deletePod(w http.ResponseWriter, r *http.Request) {
	var o meta.DeleteOptions
	_ = json.NewDecoder(r.Body).Decode(&o) // none is allowed
	s.mu.Lock()
	p := s.live[r.PathValue("name")]
	s.mu.Unlock()
	switch {
	case p == nil:
		status(w, http.StatusNotFound, meta.StatusReasonNotFound, "not found")
	case o.Preconditions != nil && o.Preconditions.UID != nil && *o.Preconditions.UID != p.UID:
		status(w, http.StatusConflict, meta.StatusReasonConflict, "another uid")
	default:
		s.Remove(p.Name)
		reply(w, http.StatusOK, p)
	}
}

func (s *Server) getLease(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.leases[r.PathValue("name")]
	if l == nil {
		status(w, http.StatusNotFound, meta.StatusReasonNotFound, "not found")
		return
	}
	reply(w, http.StatusOK, l)
}

func (s *Server) postLease(w http.ResponseWriter, r *http.Request) {
	l := new(coordination.Lease)
	if err := json.NewDecoder(r.Body).Decode(l); err != nil {
		status(w, http.StatusBadRequest, meta.StatusReasonBadRequest, err.Error())
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leases[l.Name] != nil {
		status(w, http.StatusConflict, meta.StatusReasonAlreadyExists, "exists")
		return
	}
	s.store(l)
	reply(w, http.StatusCreated, l)
}

func (s *Server) putLease(w http.ResponseWriter, r *http.Request) {
	l := new(coordination.Lease)
	if err := json.NewDecoder(r.Body).Decode(l); err != nil {
		status(w, http.StatusBadRequest, meta.StatusReasonBadRequest, err.Error())
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.leases[l.Name]; now == nil || now.ResourceVersion != l.ResourceVersion {
		status(w, http.StatusConflict, meta.StatusReasonConflict, "the object has been modified")
		return
	}
	s.store(l)
	reply(w, http.StatusOK, l)
}

// store needs s.mu.
func (s *Server) store(l *coordination.Lease) {
	s.revision++
	l.TypeMeta, l.ResourceVersion = meta.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"}, strconv.FormatInt(s.revision, 10)
	s.leases[l.Name] = l
}
