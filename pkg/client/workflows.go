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
	list, err := as[api.WorkflowList](read(c.raw.ListWorkflows(ctx, project, version)))
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
	params := &api.ListWorkflowInstancesParams{Status: or(status), Limit: or(p.Limit), Cursor: or(p.Cursor)}
	return as[api.WorkflowInstancePage](read(c.raw.ListWorkflowInstances(ctx, w.Project, w.Version, w.Name, params)))
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
	return as[api.WorkflowInstanceDetail](read(c.raw.GetWorkflowInstance(ctx, w.Project, w.Version, w.Name, id)))
}

// CreateWorkflowInstance creates an instance. The server chooses the id when it is "".
//
// Codes: the data codes, workflow_not_found, instance_exists, invalid_parameter,
// body_too_large.
func (c *Client) CreateWorkflowInstance(ctx context.Context, w Workflow, i api.CreateWorkflowInstance) (api.WorkflowInstanceDetail, error) {
	return as[api.WorkflowInstanceDetail](read(c.raw.CreateWorkflowInstance(ctx, w.Project, w.Version, w.Name, &api.CreateWorkflowInstanceParams{Force: c.force}, i)))
}

// PauseWorkflowInstance pauses an instance after the steps under way.
//
// Codes: the data codes, workflow_not_found, instance_not_found.
func (c *Client) PauseWorkflowInstance(ctx context.Context, w Workflow, id string) (api.WorkflowInstanceDetail, error) {
	return as[api.WorkflowInstanceDetail](read(c.raw.PauseWorkflowInstance(ctx, w.Project, w.Version, w.Name, id, &api.PauseWorkflowInstanceParams{Force: c.force})))
}

// ResumeWorkflowInstance continues a paused instance.
//
// Codes: the data codes, workflow_not_found, instance_not_found, instance_state.
func (c *Client) ResumeWorkflowInstance(ctx context.Context, w Workflow, id string) (api.WorkflowInstanceDetail, error) {
	return as[api.WorkflowInstanceDetail](read(c.raw.ResumeWorkflowInstance(ctx, w.Project, w.Version, w.Name, id, &api.ResumeWorkflowInstanceParams{Force: c.force})))
}

// TerminateWorkflowInstance ends an instance and what it has under way.
//
// Codes: the data codes, workflow_not_found, instance_not_found, instance_state.
func (c *Client) TerminateWorkflowInstance(ctx context.Context, w Workflow, id string) (api.WorkflowInstanceDetail, error) {
	return as[api.WorkflowInstanceDetail](read(c.raw.TerminateWorkflowInstance(ctx, w.Project, w.Version, w.Name, id, &api.TerminateWorkflowInstanceParams{Force: c.force})))
}
