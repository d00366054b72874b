package svc

import "slices"

// Status is the status of a version. spec: [C7.1] to [C7.11].
type Status string

// The statuses of a version.
const (
	StatusPending     Status = "pending"
	StatusFetching    Status = "fetching"
	StatusBranching   Status = "branching"
	StatusPreparing   Status = "preparing"
	StatusDeploying   Status = "deploying"
	StatusDeployReady Status = "deploy_ready"
	StatusReady       Status = "ready"
	StatusFailed      Status = "failed"
	StatusArchived    Status = "archived"
	StatusDraining    Status = "draining"
	StatusDestroyed   Status = "destroyed"
)

// Statuses lists every status in the order in which a version passes them.
func Statuses() []Status {
	return []Status{
		StatusPending, StatusFetching, StatusBranching, StatusPreparing, StatusDeploying, StatusDeployReady,
		StatusReady, StatusDraining, StatusArchived, StatusFailed, StatusDestroyed,
	}
}

// Valid reports whether s is a status of the contract.
func (s Status) Valid() bool { return slices.Contains(Statuses(), s) }

// InDeploy reports whether a deploy is queued or in progress.
func (s Status) InDeploy() bool {
	return slices.Contains([]Status{
		StatusPending, StatusFetching, StatusBranching, StatusPreparing, StatusDeploying, StatusDeployReady,
	}, s)
}

// Serves reports whether a version with this status serves requests. A draining
// version does: it is the previous production during a promotion [D20].
func (s Status) Serves() bool { return s == StatusReady || s == StatusDraining }

// Trigger is the event that moves a version from one status to another.
type Trigger string

// The triggers, one per edge of the state machine.
const (
	TriggerFetch    Trigger = "fetch"
	TriggerBranch   Trigger = "branch"
	TriggerPrepare  Trigger = "prepare"
	TriggerDeploy   Trigger = "deploy"
	TriggerQualify  Trigger = "qualify"
	TriggerActivate Trigger = "activate"
	TriggerFail     Trigger = "fail"
	TriggerDrain    Trigger = "drain"
	TriggerUndrain  Trigger = "undrain"
	TriggerArchive  Trigger = "archive"
	TriggerWake     Trigger = "wake"
	TriggerWakeFail Trigger = "wake_fail"
	TriggerDestroy  Trigger = "destroy"
)

// Edge is a transition from any of several statuses to one.
type Edge struct {
	Trigger Trigger
	From    []Status
	To      Status
}

// Edges returns the state machine [D15][D17][D20][D22]. The registry's
// compare-and-set statements and the diagram in docs are generated from it.
func Edges() []Edge {
	deploy := []Status{StatusPending, StatusFetching, StatusBranching, StatusPreparing, StatusDeploying, StatusDeployReady}
	return []Edge{
		{TriggerFetch, []Status{StatusPending}, StatusFetching},
		{TriggerBranch, []Status{StatusFetching}, StatusBranching},
		{TriggerPrepare, []Status{StatusBranching}, StatusPreparing},
		{TriggerDeploy, []Status{StatusPreparing}, StatusDeploying},
		{TriggerQualify, []Status{StatusDeploying}, StatusDeployReady},
		{TriggerActivate, []Status{StatusDeploying, StatusDeployReady}, StatusReady},
		{TriggerFail, deploy, StatusFailed},
		{TriggerDrain, []Status{StatusReady}, StatusDraining},
		{TriggerUndrain, []Status{StatusDraining}, StatusReady},
		{TriggerArchive, []Status{StatusReady}, StatusArchived},
		{TriggerWake, []Status{StatusArchived}, StatusDeploying},
		{TriggerWakeFail, []Status{StatusDeploying}, StatusArchived},
		// Not from draining: a promotion needs a draining version.
		{TriggerDestroy, append(deploy, StatusReady, StatusFailed, StatusArchived), StatusDestroyed},
	}
}

// EdgeOf returns the edge of t. It panics for a trigger that is not in Edges: that
// is a bug in the program.
func EdgeOf(t Trigger) Edge {
	for _, e := range Edges() {
		if e.Trigger == t {
			return e
		}
	}
	panic("svc: no edge for trigger " + string(t))
}

// After returns the status that follows s after t, or Conflict invalid_transition.
func (s Status) After(t Trigger) (Status, error) {
	e := EdgeOf(t)
	if !slices.Contains(e.From, s) {
		return s, Errorf(Conflict, CodeInvalidTransition, "cannot %s a version that is %s", t, s)
	}
	return e.To, nil
}
