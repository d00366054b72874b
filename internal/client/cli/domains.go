package cli

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

func newDomains(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{
		Use: "domains", Aliases: []string{"domain"}, Short: "Host names of other domains that lead to a project", Args: cobra.NoArgs,
		Long: "Gives a project host names of its own, beside {project}.{base domain}. They follow production through every release, promote and\n" +
			"rollback. The server serves them with SVC_DOMAINS=on; with SVC_TLS_EMAIL it orders the certificate of each at its first visitor.",
	}
	cmd.AddCommand(newDomainsAdd(k), newDomainsList(k), newDomainsVerify(k), newDomainsRemove(k))
	return cmd
}

func newDomainsAdd(k *kit.Kit) *cobra.Command {
	var project string
	var d api.AddDomain
	var dns bool
	cmd := &cobra.Command{
		Use: "add HOST", Short: "Give a host name to a project, or change where it leads", Args: cobra.ExactArgs(1),
		Long: "HOST is a name such as shop.example.com, or *.example.com for all hosts one label below it. One project has a host. With --dns the\n" +
			"project has it when the DNS has the record that the command prints (svcctl domains verify), which is looked for each day: a host\n" +
			"whose record is missing for a week is taken away.",
		Example: "  svcctl domains add shop.example.com\n  svcctl domains add www.example.com --redirect example.com\n  svcctl domains add beta.example.com --to next\n  svcctl domains add shop.example.com --dns",
		RunE: func(cmd *cobra.Command, args []string) error {
			d.Host = args[0]
			if dns {
				d.Proof = api.AddDomainProofDNS
			}
			return addDomain(cmd.Context(), k, project, d)
		},
	}
	projectFlag(cmd, &project)
	f := cmd.Flags()
	f.StringVar(&d.Target, "to", "", "version or preview name that it leads to (default: production)")
	f.StringVar(&d.Redirect, "redirect", "", "host of the same project that visitors are sent to, with 308")
	f.BoolVar(&dns, "dns", false, "prove the host by a DNS record, not by your token")
	cmd.MarkFlagsMutuallyExclusive("to", "redirect")
	return cmd
}

func addDomain(ctx context.Context, k *kit.Kit, project string, d api.AddDomain) error {
	c, project, err := projectAt(k, project)
	if err != nil {
		return err
	}
	added, err := c.AddDomain(ctx, project, d)
	if err != nil {
		return err
	}
	return k.Print(added, func() { printDomain(k, added) })
}

// printDomain says where a host leads, or what is missing.
func printDomain(k *kit.Kit, d api.Domain) {
	if !d.Proved {
		k.Printf("%s waits for its proof: write this record at the DNS of the domain", d.Host)
		k.Printf("  %s  TXT  \"%s\"", d.RecordName, d.RecordText)
		k.Printf("next: svcctl domains verify %s -p %s", d.Host, d.ProjectID)
		return
	}
	k.Printf("%s leads to %s", d.Host, leadsTo(d))
	k.Notef("next: point %s to this server at its DNS, with a CNAME, or with A and AAAA records", d.Host)
}

// leadsTo says where a host leads.
func leadsTo(d api.Domain) string {
	switch {
	case d.Redirect != "":
		return "https://" + d.Redirect + " (308)"
	case d.Target != "":
		return d.ProjectID + "/" + d.Target
	}
	return "production of " + d.ProjectID
}

func newDomainsList(k *kit.Kit) *cobra.Command {
	var project string
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the own host names of a project", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, project, err := projectAt(k, project)
			if err != nil {
				return err
			}
			all, err := c.Domains(cmd.Context(), project)
			if err != nil {
				return err
			}
			return kit.PrintList(k, all, []string{"HOST", "STATE", "LEADS TO", "AGE", "RECORD"}, func(d api.Domain) []string {
				return []string{d.Host, domainState(d), leadsTo(d), kit.Age(d.CreatedAt.Time), cmp.Or(d.RecordName, "-")}
			})
		},
	}
	projectFlag(cmd, &project)
	return cmd
}

// domainState is what a person needs to know of the proof of a host.
func domainState(d api.Domain) string {
	switch {
	case !d.Proved:
		return "waits for DNS"
	case !d.MissingAt.IsZero():
		return "record missing for " + kit.Age(d.MissingAt.Time)
	}
	return "serves"
}

func newDomainsVerify(k *kit.Kit) *cobra.Command {
	return newDomainVerb(k, "verify HOST", "Look for the DNS record that proves a host name", (*client.Client).VerifyDomain, printDomain)
}

func newDomainsRemove(k *kit.Kit) *cobra.Command {
	cmd := newDomainVerb(k, "remove HOST", "Take a host name away from a project", (*client.Client).RemoveDomain, func(k *kit.Kit, d api.Domain) {
		k.Printf("%s leads to %s no more", d.Host, leadsTo(d))
	})
	cmd.Aliases = []string{"rm", "delete"}
	return cmd
}

// newDomainVerb is a command that does one thing with a host of a project.
func newDomainVerb(k *kit.Kit, use, short string, do func(*client.Client, context.Context, string, string) (api.Domain, error), say func(*kit.Kit, api.Domain)) *cobra.Command {
	var project string
	cmd := &cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(1), ValidArgsFunction: arguments(domainNames(k)),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, project, err := projectAt(k, project)
			if err != nil {
				return err
			}
			d, err := do(c, cmd.Context(), project, args[0])
			if err != nil {
				return err
			}
			return k.Print(d, func() { say(k, d) })
		},
	}
	projectFlag(cmd, &project)
	return cmd
}

// domainNames completes the host names of a project.
func domainNames(k *kit.Kit) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completeWithin)
		defer cancel()
		c, project, err := projectAt(k, cmd.Flags().Lookup("project").Value.String())
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		all, _ := c.Domains(ctx, project) // nothing is completed after an error
		var found []string
		for _, d := range all {
			found = append(found, cobra.CompletionWithDesc(d.Host, leadsTo(d)))
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}
