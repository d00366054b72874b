//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// get asks the version until it answers.
func (v *tested) get(path string) (body string) {
	v.w.t.Helper()
	v.w.insist(v.id+path, func() error {
		a, err := v.w.try(v.w.t.Context(), http.MethodGet, v.url+path, "", "")
		if err == nil && a.Status != http.StatusOK {
			err = fmt.Errorf("%d: %.200s", a.Status, a.Body)
		}
		body = a.Body
		return err
	})
	return body
}

// insist asks until what is asked for happens: bad things go on meanwhile.
func (w *torture) insist(what string, ask func() error) {
	w.t.Helper()
	deadline := time.Now().Add(4 * time.Minute)
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		err := ask()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("waited for %s: %v", what, err)
		}
		time.Sleep(pause)
	}
}

// uploadTo puts the bundle of a version into the store.
func (w *torture) uploadTo(id string) error {
	_, err := w.store.Bucket("svc-artifacts", "").Put(w.t.Context(), project+"/"+id+"/bundle.tar.zst",
		bytes.NewReader(w.bundle), int64(len(w.bundle)), objstore.Condition{})
	return err
}

// settled waits for the end of a deploy.
func (w *torture) settled(id string) (v api.Version) {
	w.t.Helper()
	w.insist(id+" to be deployed", func() (err error) {
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
func (w *torture) reached(id string, status api.VersionStatus) {
	w.t.Helper()
	w.insist(fmt.Sprintf("%s to be %s", id, status), func() error {
		v, err := w.client().Version(w.t.Context(), project, id)
		if err == nil && v.Status != status {
			err = fmt.Errorf("it is %s", v.Status)
		}
		return err
	})
}
