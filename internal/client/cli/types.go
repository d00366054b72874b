package cli

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/dotenv"
	"github.com/svcctl/svcctl/internal/client/scaffold"
)

func newTypes(k *kit.Kit) *cobra.Command {
	var o buildOptions
	cmd := &cobra.Command{
		Use: "types [DIR]", Short: "Write the TypeScript types of a worker's env", Args: cobra.MaximumNArgs(1),
		Long: "Writes " + scaffold.TypesFile + " beside the wrangler config: the variables, bindings and the names in .dev.vars.",
		RunE: func(_ *cobra.Command, args []string) error {
			o.path = strings.Join(args, "")
			return writeTypes(k, o)
		},
	}
	cmd.Flags().StringVarP(&o.config, "config", "c", "", "wrangler config file (default: the nearest one)")
	cmd.Flags().StringVarP(&o.env, "env", "e", "", "environment of the wrangler config")
	return cmd
}

func writeTypes(k *kit.Kit, o buildOptions) error {
	req, err := o.request(k)
	if err != nil {
		return err
	}
	file, _, err := req.Load()
	if err != nil {
		return err
	}
	secrets, err := secretNames(filepath.Join(file.Dir, ".dev.vars"))
	if err != nil {
		return err
	}
	path := filepath.Join(file.Dir, scaffold.TypesFile)
	if err := os.WriteFile(path, []byte(scaffold.Types(file, secrets)), 0o644); err != nil { //nolint:gosec // a source, which others may read
		return err
	}
	return k.Print(map[string]string{"file": path}, func() { k.Printf("%s", path) })
}

// secretNames lists the names in a file of variables, which may be absent.
func secretNames(path string) ([]string, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	vars, err := dotenv.Parse(data)
	if err != nil {
		return nil, kit.Usagef("%s: %v", path, err)
	}
	return slices.Sorted(maps.Keys(vars)), nil
}
