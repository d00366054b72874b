package cli

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/build"
	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/internal/svc"
)

type checkOptions struct {
	build buildOptions
	all   string
}

func newCheck(k *kit.Kit) *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use: "check [SCRIPT|DIR]", Short: "Say what of a project runs, without deploying it", Args: cobra.MaximumNArgs(1),
		Long: "Reads the wrangler config of a worker and prints what runs, what has no effect, what is not supported, and what --allow-missing " +
			"would deploy without. svcctl deploy stops at the same problems. --all reads every project of a folder and prints a summary. " +
			"Nothing is built and no server is asked. Exit code 1 means that a project cannot be deployed unchanged.",
		Example: "  svcctl check\n  svcctl check ./worker --allow-missing images\n  svcctl check --all ~/src -o json",
		RunE: func(_ *cobra.Command, args []string) error {
			o.build.path = strings.Join(args, "")
			return check(k, o)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.build.config, "config", "c", "", "wrangler config file (default: the nearest one)")
	f.StringVarP(&o.build.project, "project", "p", "", "project (default: name in the wrangler config)")
	f.StringVar(&o.build.project, "name", "", "same as --project")
	f.StringVarP(&o.build.env, "env", "e", "", "environment of the wrangler config")
	o.build.modeFlag(cmd)
	f.StringSliceVar(&o.build.missing, "allow-missing", nil, "unsupported keys to deploy without, such as images,browser")
	f.StringVar(&o.all, "all", "", "folder whose projects are all checked")
	return cmd
}

// The results of a check.
const (
	checkRuns    = "runs"
	checkMissing = "allow_missing" // deployable with --allow-missing
	checkRefused = "refused"
)

// checked is what a check found about one project.
type checked struct {
	Path         string                `json:"path"` // of the project file, or of the directory
	Name         string                `json:"name"`
	Result       string                `json:"result"` // runs, allow_missing, refused
	Runs         []string              `json:"runs"`
	NoEffect     []string              `json:"no_effect"` // and other notices
	Warnings     []string              `json:"warnings"`
	Missing      []project.Unsupported `json:"missing"`
	Problems     []string              `json:"problems"`
	AllowMissing string                `json:"allow_missing"` // the flag's value that a deploy needs; "" for none
	Build        string                `json:"build"`         // the command to run before a deploy; "" for none
}

func check(k *kit.Kit, o checkOptions) error {
	if o.all != "" && o.build.project != "" {
		return kit.Usagef("--project is for one worker, and --all checks several")
	}
	if o.all != "" {
		return checkAll(k, o)
	}
	req, err := o.build.request(k)
	if err != nil {
		return err
	}
	c := checkOne(req.Dir, project.Options{Config: req.Config, Env: req.Env, Entry: req.Entry, AllowMissing: req.AllowMissing, Mode: req.Mode, Environ: req.Environ, Engine: req.Engine}, o.build.project)
	if err := k.Print(c, func() { printChecked(k, c) }); err != nil || c.Result == checkRuns {
		return err
	}
	return notDeployable(c)
}

// notDeployable is the failure of a check.
func notDeployable(c checked) error {
	err := svc.Errorf(svc.Unprocessable, svc.CodeConfigUnsupported, "the project cannot be deployed unchanged")
	if c.AllowMissing != "" {
		return err.WithHint("deploy it with --allow-missing %s", c.AllowMissing)
	}
	return err
}

// environments warns of environments that cannot be deployed, if the check is of none of them.
func (c *checked) environments(dir string, o project.Options) {
	if o.Env != "" || o.Entry != "" {
		return
	}
	names, _ := project.Environments(dir, o.Config) // a file that cannot be read is a problem of the check
	for _, name := range names {
		o.Env = name
		if _, _, err := readProject(dir, o); err != nil {
			c.Warnings = append(c.Warnings, fmt.Sprintf("the environment %s cannot be deployed: %s", name, strings.Join(problemsOf(err), "; ")))
		}
	}
}

// checkOne checks the project of a directory. id is the project to deploy to; "" for the one that its
// name means.
func checkOne(dir string, o project.Options, id string) checked {
	o.Unbuilt = true
	f, notices, err := readProject(dir, o)
	if err == nil && (f.Name != "" || id != "") {
		_, err = f.ProjectID(id)
	}
	c := checked{Path: dir, Result: checkRuns, Runs: []string{}, NoEffect: []string{}, Warnings: []string{}, Missing: []project.Unsupported{}, Problems: problemsOf(err)}
	if f != nil {
		c.Path, c.Name, c.Runs, c.Build = cmp.Or(f.Path, dir), f.Name, running(f), f.ToBuild
		c.Missing = append(c.Missing, f.Unsupported...)
	}
	for _, n := range notices {
		if n.Level == project.Warning {
			c.Warnings = append(c.Warnings, n.String())
		} else {
			c.NoEffect = append(c.NoEffect, n.String())
		}
	}
	c.environments(dir, o)
	if err == nil {
		return c
	}
	c.Result = checkRefused
	more := false
	for _, m := range c.Missing {
		if m.Allowable && !m.Allowed {
			o.AllowMissing, more = append(slices.Clip(o.AllowMissing), m.Key), true
		}
	}
	if _, _, err := readProject(dir, o); more && err == nil {
		c.Result, c.AllowMissing = checkMissing, strings.Join(o.AllowMissing, ",")
	}
	return c
}

// readProject reads a project file and says what a deploy would refuse of it.
func readProject(dir string, o project.Options) (*project.File, []project.Notice, error) {
	f, notices, err := project.Load(dir, o)
	if err == nil {
		err = f.Pages()
	}
	if err == nil {
		err = build.Check(f)
	}
	return f, notices, err
}

// problemsOf are the texts of the problems that stop a deploy.
func problemsOf(err error) []string {
	list := []string{}
	if err == nil {
		return list
	}
	e := svc.AsError(err)
	for _, f := range e.Fields {
		list = append(list, f.Detail)
	}
	if len(list) == 0 {
		text := e.Detail
		if slices.Contains([]string{svc.CodeInvalidID, svc.CodeIDReserved, svc.CodeConfigNotFound, svc.CodeConfigEnvUnknown, svc.CodeConfigNotEvaluated, svc.CodeConfigNotBuilt}, e.Code) && e.Hint != "" {
			text += ": " + e.Hint
		}
		list = append(list, text)
	}
	return list
}

// running lists what of a project runs.
func running(f *project.File) []string {
	list := []string{}
	count := func(what string, n int) {
		if n > 0 {
			list = append(list, fmt.Sprintf("%s: %d", what, n))
		}
	}
	count("vars", len(f.Vars))
	count("kv_namespaces", len(f.KV))
	count("d1_databases", len(f.Databases))
	count("r2_buckets", len(f.Buckets))
	count("workflows", len(f.Workflows))
	if f.Assets != nil {
		list = append(list, "assets")
	}
	if f.Functions != "" {
		list = append(list, "Pages Functions")
	}
	count("queue producers", len(f.Producers))
	count("queue consumers", len(f.Consumers))
	count("crons", len(f.Crons))
	count("durable object classes", len(f.ObjectClasses))
	count("services", len(f.Services))
	count("tail_consumers", len(f.TailConsumers))
	if f.VersionMetadata != "" {
		list = append(list, "version_metadata")
	}
	declared := map[string]int{}
	for _, b := range f.Declared {
		declared[b.Key]++
	}
	for _, key := range slices.Sorted(maps.Keys(declared)) {
		count(key, declared[key])
	}
	return list
}

func printChecked(k *kit.Kit, c checked) {
	lines := func(title string, list []string) {
		for _, text := range list {
			k.Printf("%-10s %s", title, kit.Clean(text))
			title = ""
		}
	}
	lines("runs", c.Runs)
	lines("notes", c.NoEffect)
	lines("warnings", c.Warnings)
	lines("problems", c.Problems)
	switch {
	case c.Result == checkRuns && c.Build != "":
		k.Printf("%s can be deployed after: %s", kit.Clean(c.Path), c.Build)
	case c.Result == checkRuns:
		k.Printf("%s can be deployed", kit.Clean(c.Path))
	case c.Result == checkMissing:
		k.Printf("%s can be deployed with --allow-missing %s", kit.Clean(c.Path), c.AllowMissing)
	default:
		k.Printf("%s cannot be deployed", kit.Clean(c.Path))
	}
}

// checkedAll is the result for a folder.
type checkedAll struct {
	Items   []checked      `json:"items"`
	Summary map[string]int `json:"summary"` // number of projects by result
}

func checkAll(k *kit.Kit, o checkOptions) error {
	files, err := projectFiles(k.Path(o.all))
	if err != nil {
		return kit.Usagef("--all: %v", err)
	}
	all := checkedAll{Items: []checked{}, Summary: map[string]int{checkRuns: 0, checkMissing: 0, checkRefused: 0}}
	for _, file := range files {
		c := checkOne(filepath.Dir(file), project.Options{Config: file, Env: o.build.env, AllowMissing: o.build.missing, Mode: o.build.mode, Environ: k.Environ, Engine: k.Engine}, "")
		all.Items = append(all.Items, c)
		all.Summary[c.Result]++
	}
	err = k.Print(all, func() {
		var rows [][]string
		for _, c := range all.Items {
			why := ""
			if len(c.Problems) > 0 {
				why = c.Problems[0]
			}
			if c.Build != "" {
				why = "after " + c.Build
			}
			if c.AllowMissing != "" {
				why = "--allow-missing " + c.AllowMissing
			}
			rows = append(rows, []string{kit.Clean(c.Path), c.Result, kit.Clean(why)})
		}
		k.Table([]string{"PROJECT", "RESULT", "WHY"}, rows)
		k.Printf("%d projects: %d run, %d run with --allow-missing, %d are refused", len(all.Items),
			all.Summary[checkRuns], all.Summary[checkMissing], all.Summary[checkRefused])
	})
	if err != nil || all.Summary[checkRuns] == len(all.Items) {
		return err
	}
	return svc.Errorf(svc.Unprocessable, svc.CodeConfigUnsupported, "%d of %d projects cannot be deployed unchanged", len(all.Items)-all.Summary[checkRuns], len(all.Items))
}

// projectFiles finds the project files below a folder, one for each directory.
func projectFiles(dir string) (files []string, err error) {
	if _, err := os.ReadDir(dir); err != nil {
		return nil, err
	}
	for _, file := range project.Files(dir, 0, 0) {
		files = append(files, filepath.Join(dir, file))
	}
	return files, nil
}
