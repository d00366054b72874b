package dashboard

import (
	"context"
	"net/http"
	"time"

	"github.com/svcctl/svcctl/pkg/api"
)

// actionTime is the time limit of an action. The server completes what it has begun.
const actionTime = 5 * time.Minute

// simple are the actions that need no question, with what the note says afterwards.
func simple(c *call) map[string]struct {
	do   func(ctx context.Context, project, version string) (api.Version, error)
	past string
} {
	type action = struct {
		do   func(ctx context.Context, project, version string) (api.Version, error)
		past string
	}
	return map[string]action{
		"archive": {c.api.Archive, "archived"}, "wake": {c.api.Wake, "woken"}, "pin": {c.api.Pin, "pinned"}, "unpin": {c.api.Unpin, "unpinned"},
	}
}

// act does an action that needs no question.
func (d *Dashboard) act(c *call) error {
	ref := c.ref()
	action, ok := simple(c)[c.r.PathValue("action")]
	if !ok {
		return &statusError{http.StatusNotFound, "There is no such action."}
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), actionTime)
	defer cancel()
	if _, err := action.do(ctx, ref.Project, ref.Version); err != nil {
		return err
	}
	return d.done(c, versionURL(ref.Project, ref.Version), ref.String()+" "+action.past+".")
}

// destroyBody is the question before a version is destroyed.
type destroyBody struct {
	Version  api.Version
	Children int
	Wrong    bool // another id was typed
}

// askDestroy asks for the id of the version.
func (d *Dashboard) askDestroy(c *call) error { return d.question(c, false) }

func (d *Dashboard) question(c *call, wrong bool) error {
	ref, body := c.ref(), destroyBody{Wrong: wrong}
	v, err := c.api.Version(c.r.Context(), ref.Project, ref.Version)
	if err != nil {
		return err
	}
	tree, err := c.api.Branches(c.r.Context(), ref.Project)
	if err != nil {
		return err
	}
	for _, b := range tree.Items {
		if b.VersionID == ref.Version {
			body.Children = b.Children
		}
	}
	body.Version = v
	d.render(c, "destroy", page{Title: "Destroy " + ref.Version, Place: place(ref), Body: body})
	return nil
}

// destroy destroys a version whose id was typed.
func (d *Dashboard) destroy(c *call) error {
	ref := c.ref()
	if c.r.PostFormValue("id") != ref.Version {
		return d.question(c, true)
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), actionTime)
	defer cancel()
	if _, err := c.api.Destroy(ctx, ref.Project, ref.Version); err != nil {
		return err
	}
	return d.done(c, projectURL(ref.Project), ref.String()+" destroyed.")
}
