package client

import (
	"context"
	"iter"

	"github.com/svcctl/svcctl/pkg/api"
)

// Workflows lists the workflows of a version.
//
// Codes: the data codes.
func (c *Client) Workflows(ctx context.Context, project, version string) ([]api.Workflow, error) {
	list, err := ask[api.WorkflowList](ctx, c, get(ofVersion+"/workflows", project, version))
	return list.Items, err
}

// Workflow names a workflow of a version.
type Workflow struct {
	Project, Version string
	Name             string
}

// WorkflowInstances lists one page of the instances of a workflow, newest first. A status of
// "" lists all.
//
// Codes: the data codes, workflow_not_found, invalid_parameter.
func (c *Client) WorkflowInstances(ctx context.Context, w Workflow, status string, p Page) (api.WorkflowInstancePage, error) {
	params := api.ListWorkflowInstancesParams{Status: or(status), Limit: or(p.Limit), Cursor: or(p.Cursor)}
	return ask[api.WorkflowInstancePage](ctx, c, get(ofVersion+"/workflows/{workflow}/instances", w.Project, w.Version, w.Name).with(params))
}

// AllWorkflowInstances yields the instances of a workflow like [Client.WorkflowInstances],
// every page. It ends after an error.
//
// Codes: the data codes, workflow_not_found, invalid_parameter.
func (c *Client) AllWorkflowInstances(ctx context.Context, w Workflow, status string) iter.Seq2[api.WorkflowInstance, error] {
	return all(func(cursor string) ([]api.WorkflowInstance, *string, error) {
		page, err := c.WorkflowInstances(ctx, w, status, Page{Limit: 1000, Cursor: cursor})
		return page.Items, page.NextCursor, err
	})
}

// WorkflowInstance returns an instance with its steps.
//
// Codes: the data codes, workflow_not_found, instance_not_found.
func (c *Client) WorkflowInstance(ctx context.Context, w Workflow, id string) (api.WorkflowInstanceDetail, error) {
	return ask[api.WorkflowInstanceDetail](ctx, c, get(ofVersion+"/workflows/{workflow}/instances/{instance}", w.Project, w.Version, w.Name, id))
}

// CreateWorkflowInstance creates an instance. The server chooses the id when it is "".
//
// Codes: the data codes, workflow_not_found, instance_exists, invalid_parameter,
// body_too_large.
func (c *Client) CreateWorkflowInstance(ctx context.Context, w Workflow, i api.CreateWorkflowInstance) (api.WorkflowInstanceDetail, error) {
	return ask[api.WorkflowInstanceDetail](ctx, c, post(ofVersion+"/workflows/{workflow}/instances", w.Project, w.Version, w.Name).with(c.force).json(i))
}

// PauseWorkflowInstance pauses an instance after the steps under way.
//
// Codes: the data codes, workflow_not_found, instance_not_found.
func (c *Client) PauseWorkflowInstance(ctx context.Context, w Workflow, id string) (api.WorkflowInstanceDetail, error) {
	pause := post(ofVersion+"/workflows/{workflow}/instances/{instance}/pause", w.Project, w.Version, w.Name, id)
	return ask[api.WorkflowInstanceDetail](ctx, c, pause.with(c.force))
}

// ResumeWorkflowInstance continues a paused instance.
//
// Codes: the data codes, workflow_not_found, instance_not_found, instance_state.
func (c *Client) ResumeWorkflowInstance(ctx context.Context, w Workflow, id string) (api.WorkflowInstanceDetail, error) {
	resume := post(ofVersion+"/workflows/{workflow}/instances/{instance}/resume", w.Project, w.Version, w.Name, id)
	return ask[api.WorkflowInstanceDetail](ctx, c, resume.with(c.force))
}

// TerminateWorkflowInstance ends an instance and what it has under way.
//
// Codes: the data codes, workflow_not_found, instance_not_found, instance_state.
func (c *Client) TerminateWorkflowInstance(ctx context.Context, w Workflow, id string) (api.WorkflowInstanceDetail, error) {
	terminate := post(ofVersion+"/workflows/{workflow}/instances/{instance}/terminate", w.Project, w.Version, w.Name, id)
	return ask[api.WorkflowInstanceDetail](ctx, c, terminate.with(c.force))
}
