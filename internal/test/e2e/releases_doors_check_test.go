//go:build e2e

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// doorData is what a version has.
type doorData struct {
	rows   map[string]string // process that wrote, by id; "" for the API
	keys   map[string]bool
	alarms map[string]bool // whether the alarm rang, by id
}

// data asks a version, which may be asleep, for its data.
func (r *releaseRun) data(url string) doorData {
	r.t.Helper()
	var state struct {
		Rows   [][3]string
		Keys   []string
		Alarms [][2]any
	}
	svctest.Succeeds(r.t, url+"/state", func() error {
		a, err := r.try(r.t.Context(), http.MethodGet, url+"/state", "", "")
		if err == nil && a.Status != http.StatusOK {
			err = fmt.Errorf("%d %.200s", a.Status, a.Body)
		}
		if err == nil {
			err = json.Unmarshal([]byte(a.Body), &state)
		}
		return err
	})
	d := doorData{map[string]string{}, map[string]bool{}, map[string]bool{}}
	for _, row := range state.Rows {
		d.rows[row[0]] = row[2]
	}
	for _, key := range state.Keys {
		d.keys[key] = true
	}
	for _, a := range state.Alarms {
		d.alarms[fmt.Sprint(a[0])] = a[1] == 1.0
	}
	return d
}

// has reports whether the data has what a door wrote.
func (d doorData) has(door, id string) bool {
	_, row := d.rows[id]
	switch door {
	case "alarm":
		return d.alarms[id]
	case "api":
		return row
	}
	return row && d.keys[id]
}

// check compares what clients know with today's production and with the versions before it.
func (r *releaseRun) check() {
	r.t.Helper()
	history := r.history()
	defer r.report(history)
	r.agree()
	prod := r.production()
	replaced := map[string]time.Time{} // when a version may have ceased to be production
	last := "v0"
	for _, p := range history {
		if p.Status != api.PromotionStatusDone {
			continue
		}
		if p.PreviousVersionID != last {
			r.t.Errorf("%s replaced %s, production was %s", p.VersionID, p.PreviousVersionID, last)
		}
		last = p.VersionID
		replaced[p.PreviousVersionID] = committed(p)
	}
	apart := map[string][]missing{}
	for name, acks := range r.doors.acks {
		for _, a := range acks {
			at, was := replaced[a.version]
			switch {
			case prod.has(name, a.id):
			case a.version == "" || !was || a.at.Before(at):
				r.t.Errorf("LOST: %s, acknowledged by %q at %s, is not in production (%s); replaced at %s", a.id, a.version, a.at.UTC(), last, at.UTC())
			default:
				apart[a.version] = append(apart[a.version], missing{name, a.id})
			}
		}
	}
	for version, ids := range apart {
		r.checkApart(version, ids, prod)
	}
}

type missing struct{ door, id string }

// committed returns a time before the commit of a release.
func committed(p api.Promotion) time.Time {
	if i := slices.IndexFunc(p.Steps, func(s api.StepRun) bool { return s.Step == "commit" }); i >= 0 {
		return p.Steps[i].StartedAt.Time
	}
	return p.CreatedAt.Time // its journal ended with its daemon
}

// production waits until the events of production have been handled, and returns its data.
func (r *releaseRun) production() (d doorData) {
	r.t.Helper()
	svctest.Succeeds(r.t, "the events of production", func() error {
		d = r.data(r.doors.prod)
		for _, name := range []string{"queue", "workflow", "alarm"} {
			for _, a := range r.doors.acks[name] {
				if !d.has(name, a.id) {
					return fmt.Errorf("%s is missing", a.id)
				}
			}
		}
		return nil
	})
	return d
}

// checkApart checks a version that is no longer production: it has what it acknowledged since, and
// no process of it wrote both before and after the cut.
func (r *releaseRun) checkApart(version string, ids []missing, prod doorData) {
	r.t.Helper()
	v, err := r.client().Version(r.t.Context(), "doors", version)
	if err != nil {
		r.t.Error(err)
		return
	}
	old := r.data(v.PreviewURL)
	for _, m := range ids {
		if !old.has(m.door, m.id) {
			r.t.Errorf("LOST: %s is neither in production nor in %s, which acknowledged it", m.id, version)
		}
	}
	before := map[string]string{} // an id of each process
	for id, process := range old.rows {
		if _, both := prod.rows[id]; both {
			before[process] = id
		}
	}
	for id, process := range old.rows {
		if _, both := prod.rows[id]; !both && process != "" && before[process] != "" {
			r.t.Errorf("one process of %s wrote %s before the cut and %s after it", version, before[process], id)
		}
	}
}

// agree checks that the registry, the gateway and the pointer name one production.
func (r *releaseRun) agree() {
	r.t.Helper()
	svctest.Succeeds(r.t, "one production", func() error {
		p, err := r.client().Project(r.t.Context(), "doors")
		if err != nil {
			return err
		}
		for v, err := range r.client().AllVersions(r.t.Context(), "doors", "") {
			if err != nil || v.IsProduction != (v.ID == p.ProdVersionID) {
				return fmt.Errorf("%s is production: %t; the project has %s: %w", v.ID, v.IsProduction, p.ProdVersionID, err)
			}
		}
		if a, err := r.try(r.t.Context(), http.MethodGet, p.ProdURL+"/who", "", ""); err != nil || a.Body != p.ProdVersionID {
			return fmt.Errorf("%s answers %s, %w", p.ProdVersionID, a.Body, err)
		}
		body, _, err := r.lives.objects("svc-runtime").Get(r.t.Context(), "doors/production.json", 0, -1)
		if err != nil {
			return err
		}
		defer body.Close()
		data, err := io.ReadAll(body)
		var pointer struct {
			Version string `json:"version_id"`
		}
		if err = errors.Join(err, json.Unmarshal(data, &pointer)); err == nil && pointer.Version != p.ProdVersionID {
			err = fmt.Errorf("the pointer names %s, the registry %s", pointer.Version, p.ProdVersionID)
		}
		return err
	})
}
