package cli

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/lib/text"
	"github.com/svcctl/svcctl/pkg/api"
)

func newVersionsBundle(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "bundle [PROJECT/]VERSION", Short: "Show what the bundle of a version has in it", Args: cobra.ExactArgs(1)}
	return onVersion(k, cmd, func(ctx context.Context, v atVersion, _ []string) error { return versionBundle(ctx, k, v) })
}

func versionBundle(ctx context.Context, k *kit.Kit, v atVersion) error {
	b, err := v.Bundle(ctx, v.project, v.version)
	if err != nil {
		return err
	}
	return k.Print(b, func() {
		k.Printf("%s/%s: %s, %s, format %d", v.project, b.VersionID, cmp.Or(kit.Clean(b.Main), "none"), text.Bytes(b.SizeBytes), b.Format)
		for _, part := range []struct {
			name string
			list []string
		}{{"flags", b.CompatibilityFlags}, {"vars", b.Vars}, {"crons", b.Crons}, {"consumes", b.QueueConsumers}, {"objects", b.ObjectClasses}} {
			if len(part.list) > 0 {
				k.Printf("  %-8s %s", part.name, kit.Clean(strings.Join(part.list, ", ")))
			}
		}
		k.Table([]string{"FILE", "TYPE", "SIZE", "SHA256"}, bundleRows(b))
	})
}

// bundleRows has a row for each binding and each file.
func bundleRows(b api.Bundle) (rows [][]string) {
	for _, bound := range b.Bindings {
		rows = append(rows, []string{bound.Name, strings.TrimSpace("binding " + bound.Kind + " " + bound.Resource), "-", "-"})
	}
	for _, m := range b.Modules {
		rows = append(rows, []string{m.Name, "module " + m.Type, text.Bytes(m.SizeBytes), m.SHA256[:min(12, len(m.SHA256))]})
	}
	for _, part := range []struct {
		what  string
		files []api.BundleFile
	}{{"migration", b.Migrations}, {"seed", b.Seeds}, {"asset", b.Assets}} {
		for _, f := range part.files {
			rows = append(rows, []string{f.Path, part.what, text.Bytes(f.SizeBytes), f.SHA256[:min(12, len(f.SHA256))]})
		}
	}
	return rows
}

func newVersionsCompare(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{
		Use: "compare [PROJECT/]VERSION OTHER", Short: "Show what differs between two versions of a project", Args: cobra.ExactArgs(2),
		Long: "Compares the files, bindings and settings of two bundles, and the variables that the workers see. No value of a variable is shown.",
	}
	return onVersion(k, cmd, func(ctx context.Context, v atVersion, args []string) error {
		return compareVersions(ctx, k, v, args[0])
	})
}

func compareVersions(ctx context.Context, k *kit.Kit, v atVersion, other string) error {
	from := v.version
	_, to, err := splitRef(other, v.project)
	if err != nil {
		return err
	}
	diff, err := v.Compare(ctx, v.project, from, to)
	if err != nil {
		return err
	}
	return k.Print(diff, func() {
		if len(diff.Differences) == 0 {
			k.Printf("%s and %s do not differ", from, to)
			return
		}
		k.Table([]string{"WHAT", "NAME", "CHANGE", strings.ToUpper(from), strings.ToUpper(to)}, kit.Rows(diff.Differences, func(d api.Difference) []string {
			return []string{string(d.What), d.Name, string(d.Change), sideText(d.Before, d.BeforeBytes), sideText(d.After, d.AfterBytes)}
		}))
	})
}

// sideText is one side of a difference in a cell.
func sideText(side string, bytes int64) string {
	if bytes > 0 {
		side = strings.TrimSpace(side + " " + text.Bytes(bytes))
	}
	return cmp.Or(side, "-")
}
