package httpapi_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// TestSDKAgainstTheServer deploys from project to production with the SDK.
// spec: [C12.8]
func TestSDKAgainstTheServer(t *testing.T) {
	t.Parallel()
	h := start(t)
	ctx := t.Context()
	c, err := client.New(h.url, client.Tokens{Deploy: deployToken, Admin: adminToken}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.CreateProject(ctx, api.CreateProject{ID: "shop"}); err != nil {
		t.Fatal(err)
	}
	accepted, err := c.CreateVersion(ctx, "shop", api.CreateVersion{ID: "v-1", Upload: true}, "key")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Upload(ctx, *accepted.Upload, strings.NewReader("bundle"), nil); err != nil {
		t.Fatal(err)
	}
	if err := c.Upload(ctx, *accepted.Upload, strings.NewReader("bundle"), nil); client.CodeOf(err) != "already_uploaded" {
		t.Errorf("a second upload: %v", err)
	}
	waited := make(chan error, 1)
	seen := make(chan api.VersionStatus, 10)
	go func() {
		_, err := c.Wait(ctx, "shop", "v-1", func(v api.Version) { seen <- v.Status })
		waited <- err
	}()
	if s := <-seen; s != "pending" {
		t.Errorf("the first poll returned %s", s)
	}
	h.deploy(svc.Ref{Project: "shop", Version: "v-1"})
	if err := <-waited; err != nil {
		t.Fatal(err)
	}
	p, err := c.Promote(ctx, "shop", "v-1", api.PromoteVersion{Reason: "first"})
	if err != nil {
		t.Fatal(err)
	}
	if done, err := c.WaitPromotion(ctx, "shop", p.OperationID); err != nil || done.Reason != "first" {
		t.Errorf("got %+v, %v", done, err)
	}
	for v, err := range c.AllVersions(ctx, "shop", "") {
		if err != nil || !v.IsProduction {
			t.Errorf("got %+v, %v", v, err)
		}
	}
	project, err := c.ProjectWithVersions(ctx, "shop", 1)
	if err != nil || project.ProdVersionID != "v-1" || len(project.Versions.Items) != 1 {
		t.Errorf("got %+v, %v", project, err)
	}
	if deep, err := c.DeepHealth(ctx); err != nil || deep.Status != "ok" {
		t.Errorf("got %+v, %v", deep, err)
	}
	if page, err := c.Promotions(ctx, "shop", client.Page{Limit: 5}); err != nil || len(page.Items) != 1 {
		t.Errorf("got %+v, %v", page, err)
	}
	if lines, err := c.Logs(ctx, "shop", "v-1", 5); err != nil || len(lines) != 0 {
		t.Errorf("got %v, %v", lines, err)
	}
	if _, err := c.Routes(ctx); err != nil {
		t.Error(err)
	}
	_, err = c.Version(ctx, "shop", "v-2")
	var e *client.Error
	if !errors.As(err, &e) || e.Status != 404 || e.Problem.RequestID == "" {
		t.Errorf("got %v", err)
	}
	if _, err = c.Version(ctx, "..", "v-1"); client.CodeOf(err) != "project_not_found" { // not GET /v1/versions/v-1
		t.Errorf("a project with dots for a name: %v", err)
	}
	queue, err := c.CreateVersion(ctx, "shop", api.CreateVersion{ID: "UPPER"}, "")
	if client.CodeOf(err) != "invalid_id" || !strings.Contains(err.Error(), "a-z") {
		t.Errorf("got %v, %v", queue, err)
	}
}
