package workflow

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	defaultListed = 100
	maxListed     = 1000
	maxParams     = 1 << 20 // bytes
)

var _ binding.Admin = Kind{}

// Admin gives the operations on workflows [D37].
func (Kind) Admin(open []binding.Opened) map[string]binding.Operation {
	a := admin{open}
	const instances = "/workflows/{workflow}/instances"
	return map[string]binding.Operation{
		"GET /workflows":                              binding.Timed(a.workflows),
		"GET " + instances:                            a.one(list),
		"POST " + instances:                           a.one(trigger),
		"GET " + instances + "/{instance}":            a.one(describe),
		"POST " + instances + "/{instance}/pause":     a.one(controlled((*engine).pause)),
		"POST " + instances + "/{instance}/resume":    a.one(controlled((*engine).resume)),
		"POST " + instances + "/{instance}/terminate": a.one(controlled((*engine).terminate)),
	}
}

type admin struct{ open []binding.Opened }

// engines gives each workflow once, with the first of its bindings.
func (a admin) engines() (list []*engine, bindings []string) {
	for _, o := range a.open {
		if e, ok := o.Instance.(*engine); ok && !slices.Contains(list, e) {
			list, bindings = append(list, e), append(bindings, o.Name)
		}
	}
	return list, bindings
}

// one finds the workflow that a path names.
func (a admin) one(do func(*engine, http.ResponseWriter, *http.Request) error) binding.Operation {
	return binding.Timed(func(w http.ResponseWriter, r *http.Request) error {
		all, _ := a.engines()
		names := make([]string, len(all))
		for i, e := range all {
			if names[i] = e.name; e.name == r.PathValue("workflow") {
				return adminError(do(e, w, r))
			}
		}
		err := svc.Errorf(svc.NotFound, svc.CodeWorkflowNotFound, "this version has no workflow %q", r.PathValue("workflow"))
		if len(names) > 0 {
			err = err.WithHint("it has %s", strings.Join(names, ", "))
		}
		return err
	})
}

// listedWorkflow is one row of GET /workflows.
type listedWorkflow struct {
	Name    string           `json:"name"`
	Class   string           `json:"class_name"`
	Binding string           `json:"binding"`
	Counts  map[string]int64 `json:"counts"`
}

func (a admin) workflows(w http.ResponseWriter, r *http.Request) error {
	all, bindings := a.engines()
	items := make([]listedWorkflow, len(all))
	for i, e := range all {
		counts, err := e.counts(r.Context())
		if err != nil {
			return err
		}
		items[i] = listedWorkflow{e.name, e.class, bindings[i], counts}
	}
	return binding.WriteItems(w, items)
}

// list answers with a page of instances, newest first.
func list(e *engine, w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	limit, err := binding.ListLimit(r, defaultListed, maxListed)
	if err != nil {
		return err
	}
	status := query.Get("status")
	if status != "" && !slices.Contains(states(), status) {
		return svc.Errorf(svc.BadRequest, svc.CodeInvalidParameter, "unknown status %q", status).WithHint("the states are %s", strings.Join(states(), ", "))
	}
	scope, before := binding.Scope("workflows", e.name, status), ""
	if err := binding.ReadCursor(scope, query.Get("cursor"), &before); err != nil {
		return err
	}
	found, last, err := e.page(r.Context(), status, before, limit+1)
	if err != nil {
		return err
	}
	found, next, err := binding.Page(found, limit, scope, func(i int) any { return strconv.FormatInt(last[i], 10) })
	if err != nil {
		return err
	}
	return binding.WritePage(w, orEmpty(found), next)
}

// instancePattern is an id that a worker may give an instance.
var instancePattern = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9_-]{0,99}$`)

// trigger creates an instance.
func trigger(e *engine, w http.ResponseWriter, r *http.Request) error {
	var large binding.Large
	defer large.Release()
	body, err := large.ReadBody(r, maxParams)
	if err != nil {
		return svc.Errorf(svc.BadRequest, svc.CodeBodyIncomplete, "the body ended early").Because(err)
	}
	if len(body) > maxParams {
		return svc.Errorf(svc.TooLarge, svc.CodeValueTooLarge, "the params exceed %d bytes", maxParams)
	}
	var n struct {
		ID     string          `json:"id"`
		Params json.RawMessage `json:"params"`
	}
	if len(body) > 0 {
		if err := json.Unmarshal(body, &n); err != nil {
			return svc.Errorf(svc.BadRequest, svc.CodeInvalidParameter, "the body is not an instance: %v", err)
		}
	}
	if n.ID == "" {
		n.ID = strings.ToLower(rand.Text())
	}
	if !instancePattern.MatchString(n.ID) {
		return svc.Errorf(svc.BadRequest, svc.CodeInvalidParameter, "the id %q must have 1 to 100 letters, digits, hyphens and underscores, and no hyphen first", n.ID)
	}
	params, err := fromPlain(n.Params)
	if err != nil {
		return svc.Errorf(svc.BadRequest, svc.CodeInvalidParameter, "the params are not JSON: %v", err)
	}
	_, bad, err := e.create(r.Context(), []newInstance{{ID: n.ID, Params: params}})
	if err != nil {
		return err
	}
	if len(bad) > 0 {
		return svc.Errorf(svc.Conflict, svc.CodeInstanceExists, "the workflow %q has an instance %q", e.name, n.ID)
	}
	return e.show(w, r, n.ID)
}

// show answers with an instance.
func (e *engine) show(w http.ResponseWriter, r *http.Request, name string) error {
	shown, err := e.describe(r.Context(), name)
	if err != nil {
		return err
	}
	return binding.WriteJSON(w, shown)
}

func describe(e *engine, w http.ResponseWriter, r *http.Request) error {
	return e.show(w, r, r.PathValue("instance"))
}

// controlled changes an instance and answers with it.
func controlled(do func(*engine, context.Context, string) error) func(*engine, http.ResponseWriter, *http.Request) error {
	return func(e *engine, w http.ResponseWriter, r *http.Request) error {
		name := r.PathValue("instance")
		if err := do(e, r.Context(), name); err != nil {
			return err
		}
		return e.show(w, r, name)
	}
}

// adminError gives the refusals that a worker sees their codes in the API.
func adminError(err error) error {
	refused := new(refusal)
	switch {
	case !errors.As(err, &refused):
		return err
	case refused.kind == notFound:
		return svc.Errorf(svc.NotFound, svc.CodeInstanceNotFound, "the workflow has no such instance")
	case refused.kind == conflict:
		return svc.Errorf(svc.Conflict, svc.CodeInstanceState, "%s", cmp.Or(refused.text, refused.Message))
	}
	return svc.Errorf(svc.BadRequest, svc.CodeInvalidParameter, "%s", cmp.Or(refused.text, refused.Message))
}

// isoTime is a time as the API has it.
func isoTime(ms int64) string {
	return binding.Stamp(time.UnixMilli(ms))
}
