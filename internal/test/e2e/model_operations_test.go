//go:build e2e

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// move is a task that changes the status of a version by one call.
func (m *modelRun) move(name string, v *modeled, to api.VersionStatus, call func() error) task {
	return task{name: name, on: []*modeled{v}, fails: true, run: func() {
		if err := call(); m.certain(name+" "+v.id, err) {
			v.status = []api.VersionStatus{to}
		} else {
			v.status = append(v.status, to)
		}
	}}
}

// certain reports whether an operation is done. Only in a step with a fault it may fail.
func (m *modelRun) certain(what string, err error) bool {
	if err != nil && (!m.disturbed || client.CodeOf(err) == "internal") {
		m.t.Errorf("%s: %v", what, err)
	}
	return err == nil
}

func (m *modelRun) archive(v *modeled) task {
	return m.move("archive", v, api.VersionStatusArchived, func() error {
		_, err := m.client().Archive(m.t.Context(), modelProject, v.id)
		return err
	})
}

func (m *modelRun) wake(v *modeled) task {
	return m.move("wake", v, api.VersionStatusReady, func() error {
		_, err := m.client().Wake(m.t.Context(), modelProject, v.id)
		if err == nil && m.still(v.id).Status != api.VersionStatusReady {
			err = errors.New("the wake failed")
		}
		return err
	})
}

func (m *modelRun) destroy(v *modeled) task {
	return m.move("destroy", v, api.VersionStatusDestroyed, func() error {
		_, err := m.client().Destroy(m.t.Context(), modelProject, v.id)
		return err
	})
}

// setEnv changes a variable. A response with an error means that the old value stays.
func (m *modelRun) setEnv(v *modeled) task {
	value := fmt.Sprint("round-", m.rand.Uint32())
	return task{name: "env", on: []*modeled{v}, run: func() {
		_, err := m.client().SetEnv(m.t.Context(), modelProject, v.id, map[string]string{"ROUND": value}, "")
		if m.certain("env "+v.id, err) {
			v.round = []string{value}
		} else if client.CodeOf(err) == "" {
			v.round = append(v.round, value)
		}
	}}
}

func (m *modelRun) promotion(prod, v *modeled) task {
	return task{name: "promote", on: []*modeled{prod, v}, run: func() {
		p, err := m.client().Promote(m.t.Context(), modelProject, v.id, api.PromoteVersion{})
		if err == nil && m.promoted(p.OperationID).Status == api.PromotionStatusFailed {
			err = errors.New("the promotion failed")
		}
		if m.certain("promote "+v.id, err) {
			m.prod = []string{v.id}
		} else {
			m.prod = append(m.prod, v.id)
		}
	}}
}

// promoted waits for the end of a promotion that the server accepted.
func (m *modelRun) promoted(operation string) (p api.Promotion) {
	m.t.Helper()
	svctest.Succeeds(m.t, "the promotion "+operation, func() (err error) {
		p, err = m.client().WaitPromotion(m.t.Context(), modelProject, operation)
		if _, failed := errors.AsType[*client.PromotionError](err); failed {
			err = nil
		}
		return err
	})
	return p
}

// fork creates a version from another one.
func (m *modelRun) fork(parent *modeled) task {
	child := m.fresh(parent)
	return task{name: "fork", on: []*modeled{parent, child}, run: func() {
		if err := m.create(child); !m.certain("fork "+child.id, err) {
			child.status = []api.VersionStatus{api.VersionStatusReady, api.VersionStatusFailed}
		}
	}}
}

// fresh returns a version that is not created yet.
func (m *modelRun) fresh(parent *modeled) *modeled {
	v := &modeled{
		id: fmt.Sprint("v", len(m.versions)+1), round: []string{""}, must: map[string]bool{}, status: []api.VersionStatus{api.VersionStatusReady},
	}
	if parent != nil {
		v.lineage, v.round = parent.lineage, slices.Clone(parent.round) // a child begins with its parent's variables
	}
	v.lineage = append(slices.Clip(v.lineage), v.id)
	m.versions[v.id] = v
	return v
}

// create deploys a version. It repeats requests whose answers are lost, as a pipeline does.
func (m *modelRun) create(v *modeled) error {
	svctest.Succeeds(m.t, "the bundle of "+v.id, func() error {
		_, err := m.objects("svc-artifacts").Put(m.t.Context(), modelProject+"/"+v.id+"/bundle.tar.zst",
			bytes.NewReader(m.bundle), int64(len(m.bundle)), objstore.Condition{})
		return err
	})
	ask := api.CreateVersion{ID: v.id}
	if len(v.lineage) > 1 {
		ask.ParentVersionID = &v.lineage[len(v.lineage)-2]
		m.rows.mu.Lock()
		v.must = maps.Clone(m.versions[*ask.ParentVersionID].must)
		m.rows.mu.Unlock()
	}
	svctest.Succeeds(m.t, v.id+" to be accepted", func() error {
		_, err := m.client().CreateVersion(m.t.Context(), modelProject, ask, "")
		return err
	})
	now := m.still(v.id)
	v.url = now.PreviewURL
	if now.Status != api.VersionStatusReady {
		return fmt.Errorf("%s: %s", now.Status, now.Error)
	}
	return nil
}

// still waits until a version is in no transition.
func (m *modelRun) still(id string) (v api.Version) {
	m.t.Helper()
	svctest.Succeeds(m.t, id+" to be in no transition", func() (err error) {
		v, err = m.client().Wait(m.t.Context(), modelProject, id, nil)
		if _, settled := errors.AsType[*client.VersionError](err); settled {
			err = nil
		}
		return err
	})
	return v
}

// refused asks for what is not allowed of production.
func (m *modelRun) refused(prod *modeled) task {
	return task{name: "refused", on: []*modeled{prod}, run: func() {
		_, err := m.client().Archive(m.t.Context(), modelProject, prod.id)
		if code := client.CodeOf(err); code != "version_is_production" && (code != "" || !m.disturbed) {
			m.t.Errorf("archive of production: %v", err)
		}
	}}
}

// sleep waits until a version sleeps.
func (m *modelRun) sleep(v *modeled) task {
	return task{name: "sleep", on: []*modeled{v}, quiet: true, run: func() {
		svctest.Succeeds(m.t, v.id+" to sleep", func() error {
			now, err := m.client().Version(m.t.Context(), modelProject, v.id)
			if err == nil && (now.Runtime == nil || now.Runtime.State != api.RuntimeStateAsleep) {
				err = fmt.Errorf("it is %+v", now.Runtime)
			}
			return err
		})
	}}
}

// restartTask stops the daemon and starts it, or lets the installed program replace it.
func (m *modelRun) restartTask() task {
	if m.rand.IntN(2) == 0 {
		return task{name: "upgrade", run: func() { m.ok(m.home, "admin", "upgrade") }}
	}
	return task{name: "restart", disturbs: true, run: func() {
		if code := m.process.stop(); code != 0 {
			m.t.Errorf("SIGTERM ends the daemon with exit code %d", code)
		}
		m.noProcessesLeft()
		m.again()
	}}
}
