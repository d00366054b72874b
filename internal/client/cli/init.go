package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/scaffold"
)

func newInit(k *kit.Kit) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use: "init [DIR]", Short: "Write a new worker directory from a template", Args: cobra.MaximumNArgs(1),
		Long:    "Writes the files of a template; no file is replaced, and the network is not used. Templates:\n" + templateHelp(),
		Example: "  svcctl init shop --template d1\n  cd shop\n  svcctl dev",
		RunE: func(_ *cobra.Command, args []string) error {
			return initWorker(k, strings.Join(args, ""), name)
		},
	}
	cmd.Flags().StringVarP(&name, "template", "t", "hello", "template: "+strings.Join(scaffold.Names(), ", "))
	return cmd
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
