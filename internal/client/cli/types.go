package cli

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/dotenv"
	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/internal/client/scaffold"
)

func newTypes(k *kit.Kit) *cobra.Command {
	var o buildOptions
	cmd := &cobra.Command{
		Use: "types [DIR]", Short: "Write the TypeScript types of a worker's env", Args: cobra.MaximumNArgs(1),
		Long: "Writes " + scaffold.TypesFile + " beside the wrangler config: the variables, bindings and secrets, and the names in .dev.vars or .env. Without --env\n" +
			"the types hold for all environments of the config: what one of them lacks is optional, and what differs has all types.",
		RunE: func(_ *cobra.Command, args []string) error {
			o.path = strings.Join(args, "")
			return writeTypes(k, o)
		},
	}
	cmd.Flags().StringVarP(&o.config, "config", "c", "", "wrangler config file (default: the nearest one)")
	cmd.Flags().StringVarP(&o.env, "env", "e", "", "environment of the wrangler config (default: all)")
	return cmd
}

func writeTypes(k *kit.Kit, o buildOptions) error {
	files, err := o.environments(k)
	if err != nil {
		return err
	}
	secrets, err := secretNames(k, files)
	if err != nil {
		return err
	}
	path := filepath.Join(files[0].Dir, scaffold.TypesFile)
	if err := os.WriteFile(path, []byte(scaffold.Types(files, secrets)), 0o644); err != nil { //nolint:gosec // a source, which others may read
		return err
	}
	return k.Print(map[string]string{"file": path}, func() { k.Printf("%s", path) })
}

// environments reads the project file in the environment that the command line names, else in all of them, its
// top level first.
func (o *buildOptions) environments(k *kit.Kit) ([]*project.File, error) {
	req, err := o.request(k)
	if err != nil {
		return nil, err
	}
	names := []string{req.Env}
	if req.Env == "" {
		more, err := project.Environments(req.Dir, req.Config)
		if err != nil {
			return nil, err
		}
		names = append(names, more...)
	}
	files := make([]*project.File, len(names))
	for i, name := range names {
		req.Env = name
		if files[i], _, err = req.Load(); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// secretNames lists the names in the developer's files of variables, of all environments.
func secretNames(k *kit.Kit, files []*project.File) ([]string, error) {
	found := map[string]bool{}
	for _, f := range files {
		vars, notes, err := dotenv.Load(f.Dir, f.Env)
		if err != nil {
			return nil, err
		}
		for name := range vars {
			found[name] = true
		}
		for _, note := range notes {
			k.Notef("%s", note)
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}
