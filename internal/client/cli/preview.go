package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/ci"
	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/api"
)

// previewOptions give the version of a deploy a preview name.
type previewOptions struct {
	on    bool
	name  string // "" for the git branch
	fresh bool
	keep  int
}

func newPreview(k *kit.Kit) *cobra.Command {
	o := deployOptions{preview: previewOptions{on: true}, build: buildOptions{previews: true}}
	cmd := &cobra.Command{
		Use: "preview [SCRIPT|DIR]", Short: "Deploy a branch to a host name of its own, with its data", Args: cobra.MaximumNArgs(1),
		Long: "Deploys like svcctl deploy, with the section previews of the wrangler config, and moves the host name {name}.{project}.{base domain} to\n" +
			"the new version when it is ready; requests wait meanwhile, and the version before is archived. The first version of a name begins\n" +
			"with the data of the project's preview parent (svcctl projects set --preview-parent), each later one with that of the version before.",
		Example: "  svcctl preview\n  svcctl preview --name pr-7 --comment-file comment.md\n  svcctl preview list\n  svcctl preview delete pr-7 --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.build.path = strings.Join(args, "")
			return deploy(cmd.Context(), k, o)
		},
	}
	o.build.flagsWithoutName(cmd)
	f := cmd.Flags()
	f.StringVar(&o.preview.name, "name", "", "preview name (default: the git branch; with - for other characters it ends with a checksum)")
	f.BoolVar(&o.preview.fresh, "fresh", false, "begin with the data of the preview parent, not of the version before")
	f.StringVar(&o.parent, "parent", "", "version to branch the data from, instead of the version before")
	f.IntVar(&o.preview.keep, "keep", 0, "number of earlier versions that stay ready (at most 20)")
	f.StringVar(&o.gitRef, "git-ref", "", "git ref label (default: of the CI job, else of the git repository)")
	f.StringVar(&o.gitSHA, "git-sha", "", "git commit label (default: as --git-ref, with +dirty for changed files)")
	o.labelFlag(cmd)
	o.vars.flags(cmd)
	o.job.flags(cmd)
	o.dry.flags(cmd)
	f.BoolVar(&o.wait, "wait", true, "wait until the version is ready or failed")
	f.DurationVar(&o.timeout, "timeout", 5*time.Minute, "time limit for waiting; the deploy continues after it")
	cmd.AddCommand(newPreviewList(k), newPreviewOpen(k), newPreviewLogs(k), newPreviewDelete(k))
	return cmd
}

// previewName gives the name, or that of the git branch of dir.
func previewName(ctx context.Context, k *kit.Kit, name, dir string) (string, error) {
	if name != "" {
		return name, nil
	}
	branch := ci.NewEnviron(k.Environ).Branch(ctx, dir)
	if name = ci.Slug(branch); name == "" {
		return "", kit.Usagef("no git branch to name the preview after: use --name")
	}
	return name, nil
}

// noteOtherBranch says that a preview was made from another branch, whose data it continues with.
func (o *deployOptions) noteOtherBranch(k *kit.Kit, v api.VersionAccepted) {
	if v.PreviewGitRef == "" {
		return
	}
	data := "with the data of that branch; --fresh begins anew"
	if o.preview.fresh || o.parent != "" {
		data = "with other data"
	}
	k.Notef("preview %s was made from %s, and this version from %s: it continues %s", v.PreviewName, kit.Clean(v.PreviewGitRef), kit.Clean(o.gitRef), data)
}

// previewOf reads the optional argument [PROJECT/]NAME: without it, the git branch.
func previewOf(ctx context.Context, k *kit.Kit, args []string, named string) (project, name string, err error) {
	if project, name, err = versionOf(k, strings.Join(args, ""), named); err != nil {
		return "", "", err
	}
	name, err = previewName(ctx, k, name, k.Path(""))
	return project, name, err
}
