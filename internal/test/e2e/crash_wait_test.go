//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// get asks the version until it answers.
func (v *tested) get(path string) (body string) {
	v.w.t.Helper()
	svctest.Succeeds(v.w.t, v.id+path, func() error {
		a, err := v.w.try(v.w.t.Context(), http.MethodGet, v.url+path, "", "")
		if err == nil && a.Status != http.StatusOK {
			err = fmt.Errorf("%d: %.200s", a.Status, a.Body)
		}
		body = a.Body
		return err
	})
	return body
}

// uploadTo puts the bundle of a version into the store.
func (w *crashRun) uploadTo(id string) error {
	_, err := w.store.Bucket("svc-artifacts", "").Put(w.t.Context(), project+"/"+id+"/bundle.tar.zst",
		bytes.NewReader(w.bundle), int64(len(w.bundle)), objstore.Condition{})
	return err
}

// settled waits for the end of a deploy.
func (w *crashRun) settled(id string) (v api.Version) {
	w.t.Helper()
	svctest.Succeeds(w.t, id+" to be deployed", func() (err error) {
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
		defer cancel()
		v, err = w.client().Wait(ctx, project, id, nil)
		if _, ended := errors.AsType[*client.VersionError](err); ended {
			err = nil
		}
		return err
	})
	return v
}

// reached waits until a version has a status.
func (w *crashRun) reached(id string, status api.VersionStatus) {
	w.t.Helper()
	svctest.Succeeds(w.t, fmt.Sprintf("%s to be %s", id, status), func() error {
		v, err := w.client().Version(w.t.Context(), project, id)
		if err == nil && v.Status != status {
			err = fmt.Errorf("it is %s", v.Status)
		}
		return err
	})
}
