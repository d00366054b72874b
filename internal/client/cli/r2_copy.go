package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/client"
)

type r2Copy struct {
	r2Flags
	to, toBinding string
}

func newR2Copy(k *kit.Kit) *cobra.Command {
	var o r2Copy
	cmd := &cobra.Command{
		Use: "copy [PROJECT/]VERSION KEY [NEW-KEY]", Aliases: []string{"cp"}, Short: "Copy an object with its metadata, to another key, bucket or version", Args: cobra.RangeArgs(2, 3),
		Long: "Copies the body of an object and its metadata. Without NEW-KEY the copy has the same key, in another bucket or version.",
		Example: "  svcctl r2 object copy staging logo.svg old/logo.svg\n" +
			"  svcctl r2 object copy shop/v7 logo.svg --to shop/staging",
		RunE: func(cmd *cobra.Command, args []string) error { return copyObject(cmd.Context(), k, o, args) },
	}
	o.add(cmd)
	cmd.Flags().StringVar(&o.to, "to", "", "version that the copy is stored in, [PROJECT/]VERSION (default: the same)")
	cmd.Flags().StringVar(&o.toBinding, "to-binding", "", "binding of the bucket that the copy is stored in (default: the same)")
	return cmd
}

func copyObject(ctx context.Context, k *kit.Kit, o r2Copy, args []string) error {
	key := args[1]
	newKey := args[len(args)-1]
	if newKey == key && o.to == "" && o.toBinding == "" {
		return kit.Usagef("the copy would be the object itself: name another key, or another version or bucket with --to or --to-binding")
	}
	c, from, err := o.open(ctx, k, args[0])
	if err != nil {
		return err
	}
	to, err := o.target(k, from)
	if err != nil {
		return err
	}
	object, body, err := c.GetObject(ctx, from, key)
	if err != nil {
		return err
	}
	defer body.Close()
	progress := k.NewProgress()
	defer progress.Abort()
	progress.Stage("copying")
	stored := client.NewObject{
		HTTP: object.HTTPMetadata, Custom: object.CustomMetadata, StorageClass: object.StorageClass,
		Progress: func(sent int64) { progress.Bytes(sent, object.SizeBytes) },
	}
	if err := c.PutObject(ctx, to, newKey, body, object.SizeBytes, stored); err != nil {
		return err
	}
	progress.Done("")
	return changed(k, change{Key: newKey, Binding: to.Binding, ProjectID: to.Project, VersionID: to.Version, Result: "stored"})
}

// target finds the bucket of the copy: without flags that of the original.
func (o r2Copy) target(k *kit.Kit, from client.R2) (client.R2, error) {
	to := from
	if o.toBinding != "" {
		to.Binding = o.toBinding
	}
	if o.to == "" {
		return to, nil
	}
	_, project, id, err := versionAt(k, o.to, from.Project)
	to.Project, to.Version = project, id
	return to, err
}
