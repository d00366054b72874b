package dev

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// closeLook is how long a deploy is looked at every Server.Pace; after it, less often.
const closeLook = 2 * time.Second

// idTries bounds the search for a free version id.
const idTries = 20

// order is a version to make.
type order struct {
	project string
	parent  string // "" for none
	file    string // bundle
	digest  string
	env     map[string]string
	asleep  bool // with the worker of the parent, which runs on
}

// deploy makes a version and returns it when it is ready. n is the number of the save,
// which deploy increases if the id of that number was used. The bundle becomes that of
// the version; if the version fails, it is where it was.
func (w *worker) deploy(ctx context.Context, o order, n *int) (v api.Version, err error) {
	accepted, err := w.create(ctx, o, n)
	if err != nil {
		return v, err
	}
	if accepted.Upload != nil {
		err = w.upload(ctx, *accepted.Upload, w.bundle(accepted.ID))
	}
	if err == nil {
		deploy, stop := deadline(ctx, w.late, w.room)
		v, err = w.wait(deploy, o.project, accepted.ID)
		if deploy.Err() != nil && ctx.Err() == nil {
			err = context.Cause(deploy)
		}
		stop()
	}
	if err != nil {
		w.takeBack(o.file, accepted.ID)
	}
	return v, err
}

func (w *worker) upload(ctx context.Context, to api.Upload, bundle string) error {
	f, err := os.Open(bundle)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := w.server.Client.Upload(ctx, to, f, nil); err != nil && client.CodeOf(err) != svc.CodeAlreadyUploaded {
		return err
	}
	return nil
}

// create creates the version, and its project if it is missing.
func (w *worker) create(ctx context.Context, o order, n *int) (api.VersionAccepted, error) {
	req := api.CreateVersion{ArtifactDigest: o.digest, Env: o.env, Upload: !w.server.Bundles, Asleep: o.asleep}
	if o.parent != "" {
		req.ParentVersionID = &o.parent
	}
	server := w.server.Client
	if !w.server.Own && w.name != "" {
		server = server.ForWorker(w.name, false)
	}
	step := 1
	for try := 1; ; try++ {
		req.ID = w.id(*n)
		err := w.place(o.file, req.ID)
		var accepted api.VersionAccepted
		if err == nil {
			accepted, err = server.CreateVersion(ctx, o.project, req, "")
		}
		if err == nil && req.Upload && accepted.Upload == nil {
			err = errors.New("the server returned no upload address: it may be older than this program")
		}
		if err == nil {
			return accepted, nil
		}
		w.takeBack(o.file, req.ID)
		switch code := client.CodeOf(err); {
		case (code == svc.CodeVersionExists || errors.Is(err, fs.ErrExist)) && try < idTries:
			*n += step
			step *= 2
		case code == svc.CodeProjectNotFound:
			if _, err := w.server.Client.CreateProject(ctx, api.CreateProject{ID: o.project}); err != nil {
				return accepted, fmt.Errorf("project %s does not exist and could not be created: %w", o.project, err)
			}
		default:
			return accepted, err
		}
	}
}

// id is the version id of a save: "s12", and on a shared server "dev-ada-k3x9q-s12".
func (w *worker) id(n int) string {
	if w.server.Own {
		return fmt.Sprintf("s%d", n)
	}
	user := strings.Trim(notID.ReplaceAllString(strings.ToLower(w.server.User), "-"), "-")
	if user = strings.Trim(user[:min(len(user), maxUser)], "-"); user != "" {
		user += "-"
	}
	return fmt.Sprintf("dev-%s%s-s%d", user, w.state.Name, n)
}

// maxUser is how much of a user's name is in ids, in bytes.
const maxUser = 16

// notID matches what no id has.
var notID = regexp.MustCompile(`[^a-z0-9]+`)

// wait waits for the end of a deploy: close at first, because it takes some 50 ms.
func (w *worker) wait(ctx context.Context, project, id string) (api.Version, error) {
	tick := time.NewTicker(max(w.server.Pace, time.Millisecond))
	defer tick.Stop()
	for began := time.Now(); time.Since(began) < closeLook; {
		v, err := w.server.Client.Version(ctx, project, id)
		if err != nil || v.Status == api.VersionStatusFailed {
			break // Wait makes the error
		}
		if v.Status == api.VersionStatusReady {
			return v, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return v, ctx.Err()
		}
	}
	return w.server.Client.Wait(ctx, project, id, nil)
}
