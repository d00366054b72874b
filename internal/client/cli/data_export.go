package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/unmerged"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

func newData(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "data", Short: "Compare and export the data of versions: of all databases, namespaces, buckets and queues", RunE: serveHelp}
	cmd.AddCommand(newDataDiff(k), newDataExport(k))
	return cmd
}

type dataExport struct {
	project, against, dir string
	sinceCut              bool
}

func newDataExport(k *kit.Kit) *cobra.Command {
	var o dataExport
	cmd := &cobra.Command{
		Use: "export [PROJECT/]VERSION --dir DIR", Short: "Write the data of a version, or what only this version has, to a directory", Args: cobra.ExactArgs(1),
		Long: "Writes the rows of D1, the keys of KV, the objects of R2 and the messages of queues. With --since-cut only those that the version wrote\n" +
			"since its data and that of production began to differ: what stayed behind after a promote or a rollback. The version need not run.\n" +
			"\n" +
			"  d1/DATABASE.sql              statements that repeat the changes: svcctl d1 import VERSION d1/DATABASE.sql\n" +
			"  kv/NAMESPACE.jsonl           keys with values: svcctl kv bulk put VERSION kv/NAMESPACE.jsonl\n" +
			"  kv/deleted/NAMESPACE.jsonl   deleted keys, to be deleted first: svcctl kv bulk delete\n" +
			"  r2/BUCKET/KEY                objects: svcctl r2 sync VERSION r2/BUCKET\n" +
			"  r2/BUCKET.jsonl              their metadata and files, and the deleted objects\n" +
			"  queues/QUEUE.jsonl           messages\n" +
			"\n" +
			"A row that the other version changed as well is written, too: read the statements before you repeat them. Instances of workflows and the\n" +
			"storage of Durable Objects are not exported. After an error the directory has a part of the data only.",
		Example: "  svcctl data export shop/v7 --since-cut --dir rescued\n  svcctl data export v7 --since-cut --against v9 --dir rescued -o json",
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), k, args[0]) },
	}
	projectFlag(cmd, &o.project)
	cmd.Flags().BoolVar(&o.sinceCut, "since-cut", false, "only what the version wrote since its data and that of the other version began to differ")
	cmd.Flags().StringVar(&o.against, "against", "", "version that lacks the data, with --since-cut (default: production)")
	cmd.Flags().StringVar(&o.dir, "dir", "", "directory to write to; it must be empty or not exist")
	return cmd
}

// exportedData is what an export wrote.
type exportedData struct {
	ProjectID        string             `json:"project_id"`
	VersionID        string             `json:"version_id"`
	AgainstVersionID string             `json:"against_version_id,omitempty"`
	CommonVersionID  string             `json:"common_version_id,omitempty"`
	ForkedAt         *api.Time          `json:"forked_at,omitempty"`
	Reason           api.UnmergedReason `json:"reason,omitempty"` // why everything was exported
	Everything       bool               `json:"everything"`
	Dir              string             `json:"dir"`
	Files            []string           `json:"files"`
	Written          api.Unmerged       `json:"written"`
}

func (o dataExport) run(ctx context.Context, k *kit.Kit, arg string) error {
	if o.dir == "" {
		return kit.Usagef("missing directory: use --dir DIR")
	}
	if o.against != "" && !o.sinceCut {
		return kit.Usagef("--against compares: add --since-cut")
	}
	if err := checkEmpty(k.Path(o.dir), o.dir); err != nil {
		return err
	}
	c, project, id, err := versionAt(k, arg, o.project)
	if err != nil {
		return err
	}
	_, against, err := splitRef(o.against, project)
	if err != nil {
		return err
	}
	out := exportedData{ProjectID: project, VersionID: id, Dir: o.dir}
	w := &exportWriter{root: k.Path(o.dir)}
	records := c.ExportData(ctx, project, id, client.ExportOptions{SinceCut: o.sinceCut, Against: against})
	for r, failed := range records {
		if err = failed; err == nil {
			err = out.add(w, r)
		}
		if err != nil {
			break
		}
	}
	if err = errors.Join(err, w.close()); err != nil {
		if w.begun() {
			k.Notef("the export is not complete: %s has a part of the data only", o.dir)
		}
		return err
	}
	out.Files = w.names()
	return k.Print(out, func() { out.print(k) })
}

// checkEmpty refuses a directory that has files.
func checkEmpty(dir, named string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return kit.Usagef("%s is not a directory", named)
	case len(entries) > 0:
		return kit.Usagef("the directory %s is not empty: name an empty one, or one that does not exist", named)
	}
	return nil
}

// add writes a record.
func (d *exportedData) add(w *exportWriter, r api.DataExportRecord) error {
	switch r.Kind { //nolint:exhaustive // the others are for the files
	case api.DataExportRecordKindStart:
		d.AgainstVersionID, d.CommonVersionID, d.ForkedAt, d.Reason = r.AgainstVersionID, r.CommonVersionID, r.ForkedAt, r.Reason
		d.Everything = r.CommonVersionID == ""
		w.title = fmt.Sprintf("-- %s of %s\n", d.what(), d.ProjectID)
		return os.MkdirAll(w.root, 0o755) //nolint:gosec // the user's umask decides
	case api.DataExportRecordKindEnd:
		if r.Written == nil {
			return errors.New("the answer is not what the API promises: the last record has no counts")
		}
		d.Written = *r.Written
		return nil
	}
	return w.add(r)
}

// what says what was exported.
func (d *exportedData) what() string {
	if d.Everything {
		return "all data of " + d.VersionID
	}
	since := "the fork"
	if d.ForkedAt != nil {
		since = d.ForkedAt.UTC().Format("2006-01-02T15:04:05Z07:00")
	}
	return fmt.Sprintf("what %s wrote since %s, and %s lacks", d.VersionID, since, d.AgainstVersionID)
}

func (d *exportedData) print(k *kit.Kit) {
	switch {
	case d.Reason == api.UnmergedReasonLost:
		k.Printf("no common cut: the record of the fork is deleted; everything of %s was exported", d.VersionID)
	case d.Everything && d.AgainstVersionID != "":
		k.Printf("no common cut: %s and %s inherited nothing from each other; everything of %s was exported", d.VersionID, d.AgainstVersionID, d.VersionID)
	case d.Everything:
		k.Printf("all data of %s:", d.VersionID)
	default:
		k.Printf("%s", unmerged.Cut(d.Written, d.VersionID, d.AgainstVersionID))
	}
	if rows := unmergedRows(d.Written); len(rows) > 0 {
		k.Table([]string{"WRITTEN", "NEW", "CHANGED", "DELETED"}, rows)
	}
	if d.Written.Instances.Inserted > 0 {
		k.Notef("instances of workflows are counted and not exported")
	}
	k.Notef("wrote %s to %s", count(int64(len(d.Files)), "file"), d.Dir)
}
