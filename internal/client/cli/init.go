package cli

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/scaffold"
)

func newInit(k *kit.Kit) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use: "init [DIR]", Short: "Write a new worker directory from a template", Args: cobra.MaximumNArgs(1),
		Long: "Writes the files of a template; no file is replaced, and the network is not used. Without DIR it is the working directory,\n" +
			"which has to be empty, or a person confirms it. Templates:\n" + templateHelp(),
		Example: "  svcctl init shop --template d1\n  cd shop\n  svcctl dev",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				if err := mayFill(cmd.Context(), k); err != nil {
					return err
				}
			}
			return initWorker(k, strings.Join(args, ""), name)
		},
	}
	cmd.Flags().StringVarP(&name, "template", "t", "hello", "template: "+strings.Join(scaffold.Names(), ", "))
	return cmd
}

// mayFill asks before a template is written into a working directory that the command line does not name and
// that has files, and refuses the home directory.
func mayFill(ctx context.Context, k *kit.Kit) error {
	dir := k.Path("")
	if home := environment(k, "HOME"); home != "" && filepath.Clean(home) == filepath.Clean(dir) {
		return kit.Usagef("this is your home directory: name a directory for the worker: svcctl init DIR")
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return kit.Usagef("%v", err)
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ".git" })
	if len(entries) == 0 {
		return nil
	}
	question := fmt.Sprintf("this writes a worker into %s, which is not empty", dir)
	return k.Confirm(ctx, question, "yes", "svcctl init DIR, or svcctl init . for this directory,")
}

func templateHelp() string {
	var lines []string
	for _, t := range scaffold.Templates() {
		lines = append(lines, fmt.Sprintf("  %-16s%s", t.Name, t.Help))
	}
	return strings.Join(lines, "\n")
}

func initWorker(k *kit.Kit, arg, name string) error {
	template, ok := scaffold.Find(name)
	if !ok {
		return kit.Usagef("unknown template %q: use one of %s", name, strings.Join(scaffold.Names(), ", "))
	}
	dir := k.Path(arg)
	names, err := scaffold.Write(template, dir)
	if err != nil {
		return err
	}
	return k.Print(map[string]any{"dir": dir, "template": name, "files": names}, func() {
		for _, n := range names {
			k.Printf("%s", n)
		}
		k.Notef("\nnext:")
		if arg != "" && arg != "." {
			k.Notef("  cd %s", arg)
		}
		if template.Install {
			k.Notef("  npm install")
		}
		if template.Build {
			k.Notef("  npm run build")
		}
		k.Notef("  svcctl dev")
	})
}
