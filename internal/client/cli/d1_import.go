package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/client"
)

type d1Import struct {
	project, version, binding string
}

func newD1Import(k *kit.Kit) *cobra.Command {
	var o d1Import
	cmd := &cobra.Command{
		Use: "import [PROJECT/]VERSION FILE", Short: "Import a script or a SQLite file into a database of a version", Args: cobra.RangeArgs(1, 2),
		Long: "Imports a script of SQL, such as sqlite3's .dump and wrangler's d1 export write, or a SQLite file, into a database of a version that serves. " +
			"It is one transaction: if anything fails, nothing is imported. What the file declares must not be there yet.",
		RunE: func(cmd *cobra.Command, args []string) error { return importInto(cmd.Context(), k, o, args) },
	}
	projectFlag(cmd, &o.project)
	cmd.Flags().StringVar(&o.version, "version", "", "version, instead of the first argument")
	cmd.Flags().StringVar(&o.binding, "binding", "", "binding of the database (default: the only one)")
	addYes(k, cmd)
	return cmd
}

func importInto(ctx context.Context, k *kit.Kit, o d1Import, args []string) error {
	version, name := o.version, args[len(args)-1]
	switch {
	case len(args) == 2 && version == "":
		version = args[0]
	case len(args) == 2:
		return kit.Usagef("the version is given twice, as %s and as %s", args[0], version)
	case version == "":
		return kit.Usagef("missing version or file: for example svcctl d1 import shop/v7 dump.sql")
	}
	project, id, err := versionOf(k, version, o.project)
	if err != nil {
		return err
	}
	file, size, err := openImport(k, name)
	if err != nil {
		return err
	}
	defer file.Close()
	c, err := k.Client()
	if err != nil {
		return err
	}
	if err := askProduction(ctx, k, c, bindingOf{Project: project, Version: id}, "imports "+name+" into its database"); err != nil {
		return err
	}
	progress := k.NewProgress()
	defer progress.Abort()
	progress.Stage("importing")
	what := client.Import{Project: project, Version: id, Binding: o.binding, File: file}
	if size > 0 {
		what.Progress = func(sent int64) { progress.Bytes(sent, size) }
	}
	done, err := c.ImportDatabase(ctx, what)
	if err != nil {
		return err
	}
	progress.Done("")
	return k.Print(done, func() {
		k.Printf("imported %s and %s in %s", count(done.Tables, "table"), count(done.Rows, "row"), time.Duration(done.Seconds*float64(time.Second)).Round(time.Millisecond))
	})
}

// openImport opens what is to be imported: a file, or standard input for "-",
// whose size is 0.
func openImport(k *kit.Kit, name string) (file io.ReadCloser, size int64, err error) {
	if name == "-" {
		return io.NopCloser(k.In), 0, nil
	}
	path := k.Path(name)
	if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 {
		return nil, 0, kit.Usagef("%s-wal holds changes that are not in %s yet: close what has the database open, or run sqlite3 %s \"pragma journal_mode = delete\"", name, name, name)
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, kit.Usagef("file not found: %s", name)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("opening what to import: %w", err)
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = kit.Usagef("%s is a directory", name)
	}
	if err != nil {
		_ = f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}
