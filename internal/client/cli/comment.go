package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/ci"
	"github.com/svcctl/svcctl/internal/client/cli/kit"
)

type commentOptions struct {
	key    string
	remove bool
}

func newComment(k *kit.Kit) *cobra.Command {
	var o commentOptions
	cmd := &cobra.Command{
		Use: "comment [FILE]", Short: "Write a file as a comment on the pull request of a job", Args: cobra.MaximumNArgs(1),
		Long: "Writes a Markdown file, such as deploy --comment-file makes, as a comment on the pull request (GitHub) or merge request (GitLab) that the\n" +
			"job belongs to. The next call changes that comment. The token is in GITHUB_TOKEN (permission pull-requests: write) or GITLAB_TOKEN.",
		Example: "  svcctl preview --comment-file comment.md && svcctl comment comment.md\n  svcctl comment --delete",
		RunE:    func(cmd *cobra.Command, args []string) error { return comment(cmd.Context(), k, o, args) },
	}
	cmd.Flags().StringVar(&o.key, "key", "svcctl", "name of the comment, if a pull request has several")
	cmd.Flags().BoolVar(&o.remove, "delete", false, "delete the comment")
	return cmd
}

func comment(ctx context.Context, k *kit.Kit, o commentOptions, args []string) error {
	if o.remove != (len(args) == 0) {
		return kit.Usagef("name the file of the comment, or use --delete")
	}
	text := ""
	if !o.remove {
		data, err := k.ReadFile(args[0])
		if err != nil {
			return kit.Usagef("%v", err)
		}
		if text = string(data); text == "" {
			return kit.Usagef("%s is empty", args[0])
		}
	}
	err := ci.NewEnviron(k.Environ).Comment(ctx, o.key, text)
	switch {
	case errors.Is(err, ci.ErrNoRequest):
		return kit.Usagef("%v", err)
	case err == nil && o.remove:
		k.Notef("comment deleted")
	case err == nil:
		k.Notef("comment written")
	}
	return err
}
