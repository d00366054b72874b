package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/cli/kit"
	"github.com/svcctl/svcctl/internal/push"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

type deployOptions struct {
	build   buildOptions
	version string
	parent  string
	gitRef  string
	gitSHA  string
	vars    []string
	wait    bool
	promote bool
	timeout time.Duration
}

func newDeploy(k *kit.Kit) *cobra.Command {
	var o deployOptions
	cmd := &cobra.Command{
		Use: "deploy [DIR]", Short: "Bundle a worker directory and deploy it as a new version", Args: cobra.MaximumNArgs(1),
		Example: "  svcctl deploy --wait\n  svcctl deploy ./worker --project shop --var GREETING:Hello --wait --promote -o json\n" +
			"  svcctl deploy --parent staging --git-ref refs/pull/7/merge --wait",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.build.dir = strings.Join(args, "")
			return deploy(cmd.Context(), k, o)
		},
	}
	o.build.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.version, "version", "", "version id (default: the server makes one)")
	f.StringVar(&o.parent, "parent", "", "version whose data it begins with (default: none, a root version)")
	f.StringVar(&o.gitRef, "git-ref", "", "label: git ref")
	f.StringVar(&o.gitSHA, "git-sha", "", "label: git commit")
	f.StringArrayVar(&o.vars, "var", nil, "variable of this version, NAME:VALUE; may be repeated")
	f.BoolVar(&o.wait, "wait", false, "wait until the version is ready or failed")
	f.BoolVar(&o.promote, "promote", false, "make it production once it is ready (waits)")
	f.DurationVar(&o.timeout, "timeout", 5*time.Minute, "give up waiting after this long; the deploy goes on")
	return cmd
}

func deploy(ctx context.Context, k *kit.Kit, o deployOptions) error {
	env, err := parseVars(o.vars)
	if err != nil {
		return err
	}
	c, err := k.Client()
	if err != nil {
		return err
	}
	progress := k.NewProgress()
	defer progress.Abort()
	built, err := o.build.run(ctx, k, progress)
	if err != nil {
		return err
	}
	defer built.Remove()
	accepted, err := create(ctx, k, c, built, o.request(built, env))
	if err != nil {
		return err
	}
	if err := send(ctx, c, progress, built, accepted); err != nil {
		return err
	}
	progress.Done("")
	return follow(ctx, k, c, o, accepted)
}

func (o deployOptions) request(built *push.Result, env map[string]string) api.CreateVersion {
	req := api.CreateVersion{
		ID: o.version, GitRef: o.gitRef, GitSHA: o.gitSHA, ArtifactDigest: built.Digest, Env: env, Upload: true,
	}
	if parent := strings.TrimPrefix(o.parent, built.Project+"/"); parent != "" { // as other commands print it
		req.ParentVersionID = &parent
	}
	return req
}

// create creates the version, and its project when that is missing and the
// token allows it.
func create(ctx context.Context, k *kit.Kit, c *client.Client, built *push.Result, req api.CreateVersion) (api.VersionAccepted, error) {
	accepted, err := c.CreateVersion(ctx, built.Project, req, "")
	if client.CodeOf(err) != "project_not_found" {
		return accepted, err
	}
	if _, err := c.CreateProject(ctx, api.CreateProject{ID: built.Project}); err != nil {
		return accepted, fmt.Errorf("project %s does not exist and could not be created: %w", built.Project, err)
	}
	k.Notef("created project %s", built.Project)
	return c.CreateVersion(ctx, built.Project, req, "")
}

func send(ctx context.Context, c *client.Client, progress *kit.Progress, built *push.Result, accepted api.VersionAccepted) error {
	if accepted.Upload == nil {
		return errors.New("the server gave no address to upload the bundle to: is it older than this program?")
	}
	f, err := os.Open(built.File)
	if err != nil {
		return err
	}
	defer f.Close()
	progress.Stage("uploading " + kit.Bytes(built.Size))
	err = c.Upload(ctx, *accepted.Upload, f, func(sent int64) { progress.Bytes(sent, built.Size) })
	if client.CodeOf(err) == "already_uploaded" {
		return nil // a retry of a deploy that got this far [D9]
	}
	return err
}

// follow waits if asked to, and prints the version.
func follow(ctx context.Context, k *kit.Kit, c *client.Client, o deployOptions, accepted api.VersionAccepted) error {
	if !o.wait && !o.promote {
		return k.Print(accepted, func() {
			k.Printf("%s/%s is %s at %s", accepted.ProjectID, accepted.ID, accepted.Status, kit.Clean(accepted.PreviewURL))
			k.Notef("next: svcctl versions get %s/%s --wait", accepted.ProjectID, accepted.ID)
		})
	}
	v, err := waitReady(ctx, k, c, waitFor{project: accepted.ProjectID, version: accepted.ID, timeout: o.timeout})
	if err != nil {
		return err
	}
	if o.promote {
		if _, err := promote(ctx, k, c, promoteOptions{timeout: o.timeout, reason: "deploy --promote"}, v); err != nil {
			return err
		}
		if v, err = c.Version(ctx, v.ProjectID, v.ID); err != nil {
			return err
		}
	}
	return k.Print(v, func() {
		k.Printf("%s/%s is ready at %s", v.ProjectID, v.ID, kit.Clean(v.PreviewURL))
		if v.IsProduction {
			k.Printf("production: %s", kit.Clean(v.ProdURL))
		} else {
			k.Notef("next: svcctl promote %s/%s", v.ProjectID, v.ID)
		}
	})
}

// parseVars reads NAME:VALUE pairs, as wrangler writes them.
func parseVars(pairs []string) (map[string]string, error) {
	env := map[string]string{}
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, ":")
		if !ok || name == "" {
			return nil, kit.Usagef("--var must be NAME:VALUE") // the value may be a secret: it is not repeated
		}
		env[name] = value
	}
	return env, nil
}
