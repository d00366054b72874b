package clitest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"go.yaml.in/yaml/v3"
)

// readYAML reads a file of the repository.
func readYAML[T any](ts *testscript.TestScript, name string) (document T) {
	text, err := os.ReadFile(filepath.Join(ts.Getenv("REPOSITORY"), name))
	ts.Check(err)
	ts.Check(yaml.Unmarshal(text, &document))
	return document
}

// actionFile is what a test reads of an action.yml.
type actionFile struct {
	Inputs map[string]struct {
		Required bool    `yaml:"required"`
		Default  *string `yaml:"default"`
	} `yaml:"inputs"`
	Outputs map[string]struct {
		Value string `yaml:"value"`
	} `yaml:"outputs"`
	Runs struct {
		Steps []struct {
			ID  string            `yaml:"id"`
			Run string            `yaml:"run"`
			Env map[string]string `yaml:"env"`
		} `yaml:"steps"`
	} `yaml:"runs"`
}

var expression = regexp.MustCompile(`\$\{\{ *([a-z-]+)\.([a-z._-]+) *\}\}`)

// action runs the steps of an action.yml as a runner of GitHub does.
func action(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage: action FILE [INPUT=VALUE...]")
	}
	file := readYAML[actionFile](ts, args[0])
	with := map[string]string{}
	for _, a := range args[1:] {
		name, value, _ := strings.Cut(a, "=")
		if _, ok := file.Inputs[name]; !ok {
			ts.Fatalf("the action has no input %s", name)
		}
		with[name] = value
	}
	for name, input := range file.Inputs {
		if _, given := with[name]; !given && (input.Default == nil || input.Required) {
			ts.Fatalf("the input %s is missing", name)
		} else if !given {
			with[name] = *input.Default
		}
	}
	ids := map[string]bool{}
	for _, step := range file.Runs.Steps {
		for name, value := range step.Env {
			ts.Setenv(name, expand(ts, value, with))
		}
		ids[step.ID] = true
		ts.Setenv("GITHUB_ACTION_PATH", ts.Getenv("REPOSITORY"))
		if err := ts.Exec("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run); (err != nil) != neg && step.ID != "" {
			ts.Fatalf("step %s: %v", step.ID, err)
		}
	}
	checkOutputs(ts, file, ids)
}

// expand replaces the expressions in a value.
func expand(ts *testscript.TestScript, value string, with map[string]string) string {
	for expression.MatchString(value) { // a default may hold one
		value = expression.ReplaceAllStringFunc(value, func(text string) string {
			m := expression.FindStringSubmatch(text)
			found, ok := with[m[2]]
			switch {
			case m[1] == "inputs" && ok:
				return found
			case m[1] == "github" && m[2] == "token":
				return "token-of-the-job"
			case m[1] == "github" && strings.HasPrefix(m[2], "event."):
				return inEvent(ts, strings.Split(m[2], ".")[1:])
			}
			ts.Fatalf("%s means nothing", text)
			return ""
		})
	}
	return value
}

// inEvent is a value of the event of the job, "" if it has none.
func inEvent(ts *testscript.TestScript, path []string) string {
	text, err := os.ReadFile(ts.Getenv("GITHUB_EVENT_PATH"))
	ts.Check(err)
	var at any
	ts.Check(yaml.Unmarshal(text, &at)) // YAML reads JSON, and keeps integers
	for _, key := range path {
		object, _ := at.(map[string]any)
		at = object[key]
	}
	if at == nil {
		return ""
	}
	return fmt.Sprint(at)
}

// checkOutputs compares the declared outputs with those that were written.
func checkOutputs(ts *testscript.TestScript, file actionFile, ids map[string]bool) {
	text, err := os.ReadFile(ts.Getenv("GITHUB_OUTPUT"))
	if os.IsNotExist(err) { // a step that deletes has none
		return
	}
	ts.Check(err)
	for name, output := range file.Outputs {
		step, key, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(output.Value, "${{ steps."), " }}"), ".outputs.")
		if !ids[step] || key != name || !strings.Contains("\n"+string(text), "\n"+key+"=") {
			ts.Fatalf("the output %s (%s) is not written", name, output.Value)
		}
	}
}

// gitlabJob is what a test reads of a job of GitLab.
type gitlabJob struct {
	Extends   string            `yaml:"extends"`
	Variables map[string]string `yaml:"variables"`
	Before    []string          `yaml:"before_script"`
	Script    []string          `yaml:"script"`
}

// gitlab runs a job of a template as a runner of GitLab does.
func gitlab(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: gitlab FILE JOB")
	}
	jobs := readYAML[map[string]gitlabJob](ts, args[0])
	name, job := args[1], gitlabJob{}
	for name != "" {
		parent, ok := jobs[name]
		if !ok {
			ts.Fatalf("the template has no job %s", name)
		}
		for key, value := range parent.Variables {
			if ts.Getenv(key) == "" {
				ts.Setenv(key, os.Expand(value, ts.Getenv))
			}
		}
		if job.Script == nil {
			job.Script = parent.Script
		}
		if job.Before == nil {
			job.Before = parent.Before
		}
		name = parent.Extends
	}
	script := strings.Join(append(job.Before, job.Script...), "\n")
	if err := ts.Exec("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script); (err != nil) != neg {
		ts.Fatalf("job %s: %v", args[1], err)
	}
}
