package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/build"
	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/lib/text"
	"github.com/svcctl/svcctl/pkg/client"
)

// buildOptions are the flags of every command that bundles a worker directory.
type buildOptions struct {
	path     string // of a directory or an entry module; "" for the working directory
	project  string
	config   string
	env      string
	mode     string // for a project file that is a program
	noBundle bool
	minify   bool
	date     string
	compat   []string
	missing  []string
	previews bool // the section previews of the project file holds
	assets   string
	detached bool // static files are uploaded by themselves
}

func (o *buildOptions) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.project, "name", "", "same as --project")
	o.flagsWithoutName(cmd)
}

func (o *buildOptions) flagsWithoutName(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.config, "config", "c", "", "wrangler config file (default: the nearest one)")
	o.flagsWithoutConfig(cmd)
}

func (o *buildOptions) flagsWithoutConfig(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.project, "project", "p", "", "project (default: name in the wrangler config)")
	f.StringVarP(&o.env, "env", "e", "", "environment of the wrangler config")
	o.modeFlag(cmd)
	f.StringVar(&o.date, "compatibility-date", "", "compatibility date, instead of the wrangler config's")
	f.StringArrayVar(&o.compat, "compatibility-flag", nil, "compatibility flag, instead of the wrangler config's; may be repeated")
	f.StringVar(&o.assets, "assets", "", "directory of static files, instead of the wrangler config's")
	f.StringSliceVar(&o.missing, "allow-missing", nil, "unsupported keys of the wrangler config to deploy without (images,browser): their bindings throw when they are used")
	f.BoolVar(&o.noBundle, "no-bundle", false, "use the entry module without bundling")
	f.BoolVar(&o.minify, "minify", false, "minify the bundle")
}

// modeFlag is for project files that are programs.
func (o *buildOptions) modeFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.mode, "mode", "", "what cloudflare.config.ts sees as mode")
}

// request is what is to be bundled. Paths are seen from the working directory.
func (o *buildOptions) request(k *kit.Kit) (build.Request, error) {
	dir, entry, err := o.locate(k)
	if err != nil {
		return build.Request{}, err
	}
	config := o.config
	if config != "" {
		config = k.Path(config)
	}
	assets := o.assets
	if assets != "" {
		if assets, err = filepath.Abs(k.Path(assets)); err != nil {
			return build.Request{}, err
		}
	}
	return build.Request{
		Dir: dir, Assets: assets, Entry: entry, Config: config, Env: o.env, Previews: o.previews, Project: o.project, NoBundle: o.noBundle, Minify: o.minify,
		CompatibilityDate: o.date, CompatibilityFlags: o.compat, AllowMissing: o.missing, Detached: o.detached, Environ: k.Environ, Output: k.Err,
		Mode: o.mode, Engine: k.Engine,
	}, nil
}

// run bundles the worker and shows what is being done.
func (o *buildOptions) run(ctx context.Context, k *kit.Kit, progress *kit.Progress) (*build.Result, error) {
	req, err := o.request(k)
	if err != nil {
		return nil, err
	}
	req.Stage = progress.Stage
	result, err := build.Bundle(ctx, req)
	if err != nil {
		return nil, err
	}
	for _, notice := range result.Notices {
		progress.Abort()
		k.Notef("%s", notice)
	}
	return result, nil
}

// named returns a client that tells the server from which name the project id was made: my_app and my-app
// are one id, and must not replace each other. A project that the command line names gets the new name.
func (o *buildOptions) named(c *client.Client, built *build.Result) *client.Client {
	name := built.Config.WorkerName
	if name == "" || built.Config.Name != built.Project {
		return c
	}
	return c.ForWorker(name, o.project != "")
}

// projectOf is the project that a build is for; "" if neither a flag nor the project file says it.
func (o *buildOptions) projectOf(k *kit.Kit) string {
	req, err := o.request(k)
	if err != nil {
		return o.project
	}
	file, _, err := req.Load()
	if err != nil {
		return o.project
	}
	id, err := file.ProjectID(o.project)
	if err != nil {
		return o.project
	}
	return id
}

// locate tells a directory from an entry module, which wins over main.
func (o *buildOptions) locate(k *kit.Kit) (dir, entry string, err error) {
	at := k.Path(o.path)
	info, err := os.Stat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", "", kit.Usagef("no such file or directory: %s", cmp.Or(o.path, k.CWD))
	case err != nil:
		return "", "", kit.Usagef("%v", err)
	case info.IsDir():
		return at, "", nil
	}
	switch name := filepath.Base(at); filepath.Ext(at) {
	case ".ts":
		if name != "cloudflare.config.ts" && name != "wrangler.config.ts" {
			break
		}
		fallthrough
	case ".json", ".jsonc", ".toml":
		return "", "", kit.Usagef("%s is a project file: name it with --config", o.path)
	}
	at, err = filepath.Abs(at)
	return k.Path(""), at, err
}

func newBundle(k *kit.Kit) *cobra.Command {
	var o buildOptions
	var out string
	cmd := &cobra.Command{
		Use: "bundle [SCRIPT|DIR]", Short: "Write the bundle of a worker to a file", Args: cobra.MaximumNArgs(1),
		Long: "Writes what svcctl deploy would upload: a deterministic tar.zst with a manifest, whose sha256 is the artifact digest.",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.path = strings.Join(args, "")
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
	target := k.Path(out)
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
		k.Printf("%s  %s  %s", target, text.Bytes(built.Size), built.Digest)
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
