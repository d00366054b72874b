package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// versionVerb is a command that calls one operation on a version.
type versionVerb struct {
	use, short, long string
	stage            string // shown while the call runs; "" for none
	done             string // the result, after "PROJECT/VERSION is"
	call             func(c *client.Client, ctx context.Context, project, version string) (api.Version, error)
}

func newVersionsArchive(k *kit.Kit) *cobra.Command {
	var timeout time.Duration
	cmd := newVersionVerb(k, versionVerb{
		use: "archive", short: "Stop a version's process and keep its data", stage: "archiving", done: "archived",
		long: "Stops the process of a ready version, and waits until the object store has all of its data. Its host answers 503 until it is " +
			"woken; its data stays. Production cannot be archived. With a filter, every version that it selects is archived, other than production and pinned ones.",
		call: func(c *client.Client, ctx context.Context, project, version string) (api.Version, error) {
			ctx, cancel := context.WithTimeout(ctx, timeout)
			defer cancel()
			v, err := c.Archive(ctx, project, version)
			if v.Waiting != nil {
				k.Notef("%s of %s wait until it is woken", workOf(*v.Waiting), version)
			}
			return v, waitFor{project: project, version: version, timeout: timeout, verb: "archive", again: k.Again("versions", "archive", project+"/"+version)}.late(ctx, err)
		},
	})
	timeoutFlag(cmd, &timeout, "archive")
	withFilter(k, cmd, filterVerb{what: "archive", done: "archived", call: (*client.Client).ArchiveVersions})
	return cmd
}

// withFilter lets a command for one version take a filter instead.
func withFilter(k *kit.Kit, cmd *cobra.Command, verb filterVerb) {
	var o bulkOptions
	one := cmd.RunE
	o.flags(cmd)
	if cmd.Flags().Lookup("yes") == nil {
		cmd.Flags().BoolP("yes", "y", false, "with a filter: skip the confirmation prompt")
	}
	cmd.Args = cobra.MaximumNArgs(1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.check(args); err != nil {
			return err
		}
		if !o.on() {
			return one(cmd, args)
		}
		yes, err := cmd.Flags().GetBool("yes")
		if err != nil {
			return err
		}
		project, err := cmd.Flags().GetString("project")
		if err != nil {
			return err
		}
		return o.run(cmd.Context(), k, verb, project, yes)
	}
}

func newVersionsPin(k *kit.Kit) *cobra.Command {
	return newVersionVerb(k, versionVerb{
		use: "pin", short: "Protect a version from idle archiving", done: "pinned", call: (*client.Client).Pin,
	})
}

func newVersionsUnpin(k *kit.Kit) *cobra.Command {
	return newVersionVerb(k, versionVerb{
		use: "unpin", short: "Allow a version to be archived when idle", done: "unpinned", call: (*client.Client).Unpin,
	})
}

func newVersionVerb(k *kit.Kit, verb versionVerb) *cobra.Command {
	var project string
	cmd := &cobra.Command{
		Use: verb.use + " [PROJECT/]VERSION", Short: verb.short, Long: verb.long, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return verb.run(cmd.Context(), k, args[0], project) },
	}
	projectFlag(cmd, &project)
	return cmd
}

func projectFlag(cmd *cobra.Command, project *string) {
	cmd.Flags().StringVarP(project, "project", "p", "", "project (default: the worker directory's)")
}

func (verb versionVerb) run(ctx context.Context, k *kit.Kit, arg, project string) error {
	c, project, id, err := versionAt(k, arg, project)
	if err != nil {
		return err
	}
	progress := k.NewProgress()
	defer progress.Abort()
	if verb.stage != "" {
		progress.Stage(verb.stage + " " + id)
	}
	v, err := verb.call(c, ctx, project, id)
	if err != nil {
		return err
	}
	progress.Done("")
	return k.Print(v, func() { k.Printf("%s/%s is %s", v.ProjectID, v.ID, verb.done) })
}

type versionsWake struct {
	project string
	timeout time.Duration
}

func newVersionsWake(k *kit.Kit) *cobra.Command {
	var o versionsWake
	cmd := &cobra.Command{
		Use: "wake [PROJECT/]VERSION", Short: "Start an archived version again", Args: cobra.ExactArgs(1),
		Long: "Starts the process of an archived version and waits until it serves.",
		RunE: func(cmd *cobra.Command, args []string) error { return wakeVersion(cmd.Context(), k, o, args[0]) },
	}
	projectFlag(cmd, &o.project)
	timeoutFlag(cmd, &o.timeout, "wake")
	return cmd
}

func wakeVersion(ctx context.Context, k *kit.Kit, o versionsWake, arg string) error {
	c, project, id, err := versionAt(k, arg, o.project)
	if err != nil {
		return err
	}
	progress := k.NewProgress()
	defer progress.Abort()
	progress.Stage("waking " + id)
	w := waitFor{project: project, version: id, timeout: o.timeout, verb: "wake", again: k.Again("versions", "wake", project+"/"+id)}
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	v, err := c.Wake(ctx, project, id)
	if err != nil {
		return w.late(ctx, err)
	}
	progress.Done("")
	if v.Status != api.VersionStatusReady && v.Status != api.VersionStatusDraining { // it takes long
		v, err = waitReady(ctx, k, c, w)
	}
	if ended, failed := errors.AsType[*client.VersionError](err); failed {
		showLogs(ctx, k, c, ended.Version, asBuilt)
		return fmt.Errorf("the wake failed: %w", err)
	}
	if err != nil {
		return err
	}
	return k.Print(v, func() { k.Printf("%s/%s is ready at %s", v.ProjectID, v.ID, kit.Clean(v.PreviewURL)) })
}

type versionsDelete struct {
	project string
	yes     bool
}

func newVersionsDelete(k *kit.Kit) *cobra.Command {
	var o versionsDelete
	cmd := &cobra.Command{
		Use: "delete [[PROJECT/]VERSION]", Aliases: []string{"destroy", "rm"}, Short: "Destroy a version and its data for good", Args: cobra.ExactArgs(1),
		Long: "Stops a version and removes its data, logs and bundle for good; its id is never used again. A deploy under way is ended " +
			"first. Production cannot be destroyed. Prompts for the version id; use --yes when there is no terminal. With a filter, every version that it " +
			"selects is destroyed, other than production and pinned ones.",
		RunE: func(cmd *cobra.Command, args []string) error { return deleteVersion(cmd.Context(), k, o, args[0]) },
	}
	projectFlag(cmd, &o.project)
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "skip the confirmation prompt")
	withFilter(k, cmd, filterVerb{what: "destroy", done: "destroyed", call: (*client.Client).DestroyVersions})
	return cmd
}

func deleteVersion(ctx context.Context, k *kit.Kit, o versionsDelete, arg string) error {
	project, id, err := versionOf(k, arg, o.project)
	if err != nil {
		return err
	}
	if !o.yes && k.CanAsk() { // no question about what does not exist
		c, err := k.Client()
		if err == nil {
			_, err = c.Version(ctx, project, id)
		}
		if err != nil {
			return err
		}
	}
	if !o.yes {
		if err := k.Confirm(ctx, "this destroys "+project+"/"+id+" and its data for good", id, "--yes"); err != nil {
			return err
		}
	}
	return versionVerb{stage: "destroying", done: "destroyed", call: (*client.Client).Destroy}.run(ctx, k, id, project)
}
