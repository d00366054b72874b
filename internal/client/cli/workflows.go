package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

func newWorkflows(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "workflows", Short: "Look at the workflows of a version and control their instances", RunE: serveHelp}
	cmd.AddCommand(newWorkflowsList(k), newWorkflowsInstances(k), newWorkflowsTrigger(k),
		newWorkflowsInstance(k, "describe", "Show an instance with its steps", (*client.Client).WorkflowInstance),
		newWorkflowsInstance(k, "pause", "Pause an instance after the steps under way", (*client.Client).PauseWorkflowInstance),
		newWorkflowsInstance(k, "resume", "Continue a paused instance", (*client.Client).ResumeWorkflowInstance),
		newWorkflowsInstance(k, "terminate", "End an instance and the steps under way", (*client.Client).TerminateWorkflowInstance))
	addForce(k, cmd)
	return cmd
}

func (v atVersion) workflow(name string) client.Workflow {
	return client.Workflow{Project: v.project, Version: v.version, Name: name}
}

func newWorkflowsList(k *kit.Kit) *cobra.Command {
	header := []string{"NAME", "CLASS", "BINDING", "QUEUED", "RUNNING", "WAITING", "PAUSED", "COMPLETE", "ERRORED", "TERMINATED"}
	return newVersionList(k, versionList[api.Workflow]{
		short: "List the workflows of a version", read: (*client.Client).Workflows, header: header,
		row: func(w api.Workflow) []string {
			row := []string{w.Name, w.ClassName, w.Binding}
			for _, state := range header[len(row):] {
				row = append(row, strconv.FormatInt(w.Counts[strings.ToLower(state)], 10))
			}
			return row
		},
	})
}

func newWorkflowsInstances(k *kit.Kit) *cobra.Command {
	var status string
	var limit int
	cmd := &cobra.Command{Use: "instances [PROJECT/]VERSION WORKFLOW", Short: "List the instances of a workflow, newest first", Args: cobra.ExactArgs(2)}
	cmd.Flags().StringVar(&status, "status", "", "state of the instances to list (default: all)")
	cmd.Flags().IntVar(&limit, "limit", 100, "maximum number of results (0 = no limit)")
	return onVersion(k, cmd, func(ctx context.Context, v atVersion, args []string) error {
		list, err := collect(v.AllWorkflowInstances(ctx, v.workflow(args[0]), status), limit)
		if err != nil {
			return err
		}
		return printInstances(k, list)
	})
}

func printInstances(k *kit.Kit, list listed[api.WorkflowInstance]) error {
	return list.print(k, []string{"ID", "STATUS", "CREATED", "UPDATED", "STEP", "ERROR"}, func(i api.WorkflowInstance) []string {
		return []string{i.ID, i.Status, i.CreatedAt.Format(time.RFC3339), i.UpdatedAt.Format(time.RFC3339), kit.Clean(i.CurrentStep), failureText(i.Error)}
	})
}

// failureText is an exception on one line; "" for none.
func failureText(e *api.WorkflowError) string {
	if e == nil {
		return ""
	}
	return kit.Clean(e.Name + ": " + e.Message)
}

type workflowsTrigger struct{ project, id, params string }

func newWorkflowsTrigger(k *kit.Kit) *cobra.Command {
	var o workflowsTrigger
	cmd := &cobra.Command{
		Use: "trigger [PROJECT/]VERSION WORKFLOW", Short: "Create an instance of a workflow", Args: cobra.ExactArgs(2),
		Example: `  svcctl workflows trigger shop/v-20261121093000 orders --params '{"id":"o-1"}'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return triggerWorkflow(cmd.Context(), k, o, args[0], args[1])
		},
	}
	projectFlag(cmd, &o.project)
	cmd.Flags().StringVar(&o.id, "id", "", "id of the instance (default: chosen by the server)")
	cmd.Flags().StringVar(&o.params, "params", "", "JSON that run() finds in event.payload (default: {})")
	return cmd
}

func triggerWorkflow(ctx context.Context, k *kit.Kit, o workflowsTrigger, version, name string) error {
	body := api.CreateWorkflowInstance{ID: o.id}
	if o.params != "" {
		if body.Params = json.RawMessage(o.params); !json.Valid(body.Params) {
			return kit.Usagef("--params is not JSON")
		}
	}
	c, project, id, err := versionAt(k, version, o.project)
	if err != nil {
		return err
	}
	i, err := c.CreateWorkflowInstance(ctx, atVersion{c, project, id}.workflow(name), body)
	if err != nil {
		return err
	}
	return k.Print(i, func() { k.Printf("%s is %s", i.ID, i.Status) })
}

// newWorkflowsInstance is a command about one instance, which it shows.
func newWorkflowsInstance(k *kit.Kit, verb, short string, do func(*client.Client, context.Context, client.Workflow, string) (api.WorkflowInstanceDetail, error)) *cobra.Command {
	cmd := &cobra.Command{Use: verb + " [PROJECT/]VERSION WORKFLOW ID", Short: short, Args: cobra.ExactArgs(3)}
	return onVersion(k, cmd, func(ctx context.Context, v atVersion, args []string) error {
		i, err := do(v.Client, ctx, v.workflow(args[0]), args[1])
		if err != nil {
			return err
		}
		return k.Print(i, func() { printInstance(k, i) })
	})
}

// printInstance prints an instance, and a line for each step.
func printInstance(k *kit.Kit, i api.WorkflowInstanceDetail) {
	k.Printf("%s is %s", i.ID, i.Status)
	k.Printf("created  %s", i.CreatedAt.Format(time.RFC3339))
	if i.StartedAt != nil {
		k.Printf("started  %s", i.StartedAt.Format(time.RFC3339))
	}
	if i.NextRunAt != nil {
		k.Printf("next run %s", i.NextRunAt.Format(time.RFC3339))
	}
	if i.EndedAt != nil {
		k.Printf("ended    %s", i.EndedAt.Format(time.RFC3339))
	}
	k.Printf("params   %s", shortText(i.Params))
	if i.Error != nil {
		k.Printf("error    %s", failureText(i.Error))
	}
	if len(i.Output) > 0 {
		k.Printf("output   %s", shortText(i.Output))
	}
	k.Table([]string{"STEP", "TYPE", "STATE", "ATTEMPTS", "TOOK", "RESULT"}, kit.Rows(i.Steps, func(s api.WorkflowStep) []string {
		return []string{kit.Clean(s.Name), s.Type, s.State, strconv.FormatInt(s.Attempts, 10), stepTime(s), stepText(s)}
	}))
}

// stepTime is how long a step took; "" while it lasts.
func stepTime(s api.WorkflowStep) string {
	if s.EndedAt == nil {
		return ""
	}
	return s.EndedAt.Sub(s.StartedAt.Time).String()
}

// stepText is what a step gave or waits for.
func stepText(s api.WorkflowStep) string {
	switch {
	case s.Error != nil:
		return failureText(s.Error)
	case len(s.Output) > 0:
		return shortText(s.Output)
	case s.OutputBytes > 0:
		return fmt.Sprintf("(%d bytes)", s.OutputBytes)
	case s.DueAt != nil && s.Event != "":
		return fmt.Sprintf("waits for %s until %s", kit.Clean(s.Event), s.DueAt.Format(time.RFC3339))
	case s.DueAt != nil:
		return "waits until " + s.DueAt.Format(time.RFC3339)
	case len(s.Failures) > 0:
		last := s.Failures[len(s.Failures)-1].Error
		return failureText(&last)
	}
	return ""
}

// shortText is JSON on one line of at most 100 characters.
func shortText(text json.RawMessage) string {
	const most = 100
	r := []rune(kit.Clean(string(text)))
	if len(r) > most {
		return string(r[:most]) + "…"
	}
	return string(r)
}
