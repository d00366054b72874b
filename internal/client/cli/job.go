package cli

import (
	"errors"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/ci"
	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/unmerged"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// jobOptions say where the result of a deploy goes beside stdout.
type jobOptions struct {
	dotenv, comment string
	events, noData  bool
}

func (o *jobOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.dotenv, "dotenv", "", "write the result to this file as variables, for GitLab's reports:dotenv")
	f.StringVar(&o.comment, "comment-file", "", "write the result to this file as Markdown, for a comment on a pull request")
	f.BoolVar(&o.noData, "no-data-diff", false, "leave out of the comment and the summary how many records the version changed since its fork")
	f.BoolVar(&o.events, "json-events", false, "print one line of JSON for each stage, step, result and error")
}

// job is a deploy as a job of continuous integration shows it.
type job struct {
	jobOptions
	k      *kit.Kit
	env    ci.Environ
	began  time.Time
	end    string // of the open group of lines; "" for none
	dir    string // that files in errors are relative to
	report ci.Report
}

func newJob(k *kit.Kit, o jobOptions) *job {
	return &job{jobOptions: o, k: k, env: ci.NewEnviron(k.Environ), began: time.Now(), dir: k.Path("")}
}

// begin hides the values of env in the log of the job and begins a group of lines.
func (j *job) begin(env map[string]string) {
	for _, command := range j.env.Masks(slices.Sorted(maps.Values(env))) {
		j.k.Notef("%s", command)
	}
	begin, end := j.env.Group("svcctl deploy", j.began)
	if j.end = end; begin != "" {
		j.k.Notef("%s", begin)
	}
}

// endGroup ends the group: what follows is always shown.
func (j *job) endGroup() {
	if j.end != "" {
		j.k.Notef("%s", j.end)
		j.end = ""
	}
}

// accepted notes what the create returned.
func (j *job) accepted(a api.VersionAccepted) {
	j.report.Project, j.report.Version, j.report.Status, j.report.PreviewURL = a.ProjectID, a.ID, string(a.Status), a.PreviewURL
	j.report.Name, j.report.NameURL = a.PreviewName, a.PreviewNameURL
	shown := a
	shown.PollTicket, shown.Upload = nil, nil // credentials
	j.k.Event("created", shown)
}

// promoted notes what a promote left behind.
func (j *job) promoted(p promoted) {
	if unmerged.Left(p.Unmerged) {
		j.report.Left, j.report.Rescue = unmerged.Short(*p.Unmerged, p.PreviousVersionID, p.VersionID), p.Rescue
	}
}

// ended notes the last record of the version.
func (j *job) ended(v api.Version) {
	r := &j.report
	r.Status, r.Error, r.Parent, r.Cut, r.Digest = string(v.Status), v.Error, parentOf(v), v.ForkTXID, v.ArtifactDigest
	if v.IsProduction {
		r.ProdURL = v.ProdURL
	}
	for _, s := range v.Timeline {
		if s.Step == string(svc.StatusPreparing) {
			r.Migrations = s.Detail
		}
	}
}

// finish writes the result to the files of the job, and err to its annotations. A deploy that
// created nothing has files too if it failed: else those of the deploy before would stay.
func (j *job) finish(err error) error {
	j.endGroup()
	j.report.Took = time.Since(j.began)
	if err != nil {
		j.failed(j.k.Explain(err))
	} else if j.report.Version == "" { // a dry run
		return nil
	}
	errs := []error{err, j.env.Outputs(j.report)}
	for name, text := range map[string]string{j.dotenv: j.report.Dotenv(), j.comment: j.report.Markdown()} {
		if name != "" {
			errs = append(errs, os.WriteFile(j.k.Path(name), []byte(text), 0o600))
		}
	}
	if errors.Join(errs[1:]...) == nil {
		return err
	}
	return errors.Join(errs...)
}

// failed notes why the deploy failed, and shows it at the lines that it names.
func (j *job) failed(text string) {
	for _, command := range j.env.Annotations("svcctl deploy", text, j.dir) {
		j.k.Notef("%s", command)
	}
	if j.report.Version == "" {
		j.report.Status = string(api.VersionStatusFailed)
	}
	if j.report.Error == "" {
		j.report.Failure = text
	}
}
