package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/build"
	"github.com/svcctl/svcctl/internal/client/cli/kit"
)

// buildOptions are the flags of every command that bundles a worker directory.
type buildOptions struct {
	dir      string
	project  string
	config   string
	env      string
	noBundle bool
	minify   bool
}

func (o *buildOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.project, "project", "p", "", "project (default: name in the wrangler config)")
	f.StringVar(&o.project, "name", "", "same as --project")
	f.StringVarP(&o.config, "config", "c", "", "wrangler config file (default: the nearest one)")
	f.StringVarP(&o.env, "env", "e", "", "environment of the wrangler config")
	f.BoolVar(&o.noBundle, "no-bundle", false, "use the entry module without bundling")
	f.BoolVar(&o.minify, "minify", false, "minify the bundle")
}

// run bundles the directory and shows what is being done.
func (o *buildOptions) run(ctx context.Context, k *kit.Kit, progress *kit.Progress) (*build.Result, error) {
	result, err := build.Bundle(ctx, build.Request{
		Dir: workDir(k, o.dir), Config: o.config, Env: o.env, Project: o.project, NoBundle: o.noBundle, Minify: o.minify,
		Environ: k.Environ, Output: k.Err, Stage: progress.Stage,
	})
	if err != nil {
		return nil, err
	}
	for _, notice := range result.Notices {
		progress.Abort()
		k.Notef("%s", notice)
	}
	return result, nil
}

func newBundle(k *kit.Kit) *cobra.Command {
	var o buildOptions
	var out string
	cmd := &cobra.Command{
		Use: "bundle [DIR]", Short: "Write the bundle of a worker directory to a file", Args: cobra.MaximumNArgs(1),
		Long: "Writes what svcctl deploy would upload: a deterministic tar.zst with a manifest, whose sha256 is the artifact digest.",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.dir = strings.Join(args, "")
			return writeBundle(cmd.Context(), k, o, out)
		},
	}
	o.flags(cmd)
	cmd.Flags().StringVarP(&out, "outfile", "O", "bundle.tar.zst", "file to write; - for stdout")
	return cmd
}

func writeBundle(ctx context.Context, k *kit.Kit, o buildOptions, out string) error {
	progress := k.NewProgress()
	defer progress.Abort()
	built, err := o.run(ctx, k, progress)
	if err != nil {
		return err
	}
	defer built.Remove()
	progress.Done("")
	if out == "-" {
		return copyTo(k.Out, built.File)
	}
	target := workDir(k, out)
	f, err := os.Create(target)
	if err != nil {
		return err
	}
	if err := copyTo(f, built.File); err != nil {
		_ = f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("write %s: %w", target, err)
	}
	return k.Print(map[string]any{"file": target, "digest": built.Digest, "size": built.Size}, func() {
		k.Printf("%s  %s  %s", target, kit.Bytes(built.Size), built.Digest)
	})
}

func copyTo(w io.Writer, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}
