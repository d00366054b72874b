package whole

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/config"
)

func (r Runs) serve(k *kit.Kit) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "serve", Short: "Run the control plane: API, gateway and the processes of versions", Args: cobra.NoArgs,
		Long: "Runs until SIGTERM or Ctrl-C, then shuts down gracefully; a second signal exits immediately.\n" +
			"SIGHUP reads the config file again and applies the log level and the trusted proxies.\n" +
			"SIGUSR2 replaces the process by the program that is installed now, without a refused connection.\n" +
			"Every setting is an environment variable, a key of the config file and, for the common ones, a flag.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			flags := map[string]string{}
			cmd.Flags().Visit(func(f *pflag.Flag) { flags[f.Name] = f.Value.String() })
			return r.Serve(cmd.Context(), k, config.Source{Environ: k.Environ, File: file, Flags: flags})
		},
	}
	cmd.Flags().StringVarP(&file, "config", "c", "", "config file (YAML, TOML or JSON)")
	for _, s := range config.DaemonSettings() {
		if s.Flag != "" {
			cmd.Flags().String(s.Flag, s.Default, s.Help+" ("+s.Env+")")
		}
	}
	return cmd
}
