package cli

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/config"
)

func newConfig(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "config", Short: "Show the settings of this program", RunE: serveHelp}
	cmd.AddCommand(&cobra.Command{
		Use: "explain", Short: "Show each setting in effect and where it comes from", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return explain(k) },
	})
	return cmd
}

// explained is one setting of this program.
type explained struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

func explain(k *kit.Kit) error {
	c, err := k.Config()
	if err != nil {
		return err
	}
	source := func(key string) string { return cmp.Or(c.Sources[key], "default") }
	token := func(set bool) string {
		if set {
			return "(set)"
		}
		return "(not set)"
	}
	output, from := k.Output, "--output"
	if output == "" {
		output, from = cmp.Or(c.Output, "table"), map[bool]string{true: "SVCCTL_OUTPUT", false: "default"}[c.Output != ""]
	}
	caFile, caFrom := k.CAFile, "--ca-file"
	if caFile == "" {
		caFile, caFrom = c.CAFile, map[bool]string{true: "context " + c.Context, false: "default"}[c.CAFile != ""]
	}
	rows := []explained{
		{"server", c.Server, source("server")},
		{"context", cmp.Or(c.Context, "none"), config.ContextsPath(k.Environ)},
		{"deploy token", token(c.DeployToken != ""), source("deploy_token")},
		{"admin token", token(c.AdminToken != ""), source("admin_token")},
		{"ca-file", cmp.Or(caFile, "none"), caFrom},
		{"output", output, from},
	}
	return kit.PrintList(k, rows, []string{"SETTING", "VALUE", "SOURCE"}, func(r explained) []string {
		return []string{r.Name, r.Value, r.Source}
	})
}

func joined(words []string) string { return strings.Join(words, " and ") }
