package state

import (
	"strings"
	"time"

	"github.com/svcctl/svcctl/pkg/api"
)

// Need names an answer of the API, and the type of its value.
type Need struct {
	Kind             Kind
	Project, Version string
	Arg              string // depends on Kind
}

// Kind is the kind of an answer.
type Kind string

// The kinds, with the types of their values.
const (
	Projects    Kind = "projects"     // []api.Project
	Project     Kind = "project"      // api.Project: updates Projects
	Summaries   Kind = "summaries"    // []api.Project with their Summary
	Versions    Kind = "versions"     // []api.Version of Project, newest first
	Version     Kind = "version"      // api.Version: updates Versions, too
	Promotions  Kind = "promotions"   // []api.Promotion of Project, newest first
	Bindings    Kind = "bindings"     // []api.Binding
	Env         Kind = "env"          // []api.EnvEntry, with the values
	Bundle      Kind = "bundle"       // api.Bundle
	Compare     Kind = "compare"      // api.Comparison of Arg, or else of the production, with Version
	Plan        Kind = "plan"         // api.PromotionPlan of Version
	ReleasePlan Kind = "release plan" // api.ReleasePlan of Version
	Health      Kind = "health"       // api.DeepHealth
	Routes      Kind = "routes"       // []api.Route of Project; "" for all
	Logs        Kind = "logs"         // a stream of Lines while it is needed, of the server without a Project; Arg is a level
	Traffic     Kind = "traffic"      // api.MetricsSummary of five minutes
	Server      Kind = "server"       // api.Server
	Leases      Kind = "leases"       // api.LeasePage with all versions
	Nodes       Kind = "nodes"        // []api.Node
	Gateways    Kind = "gateways"     // []api.Gateway
	Queue       Kind = "queue"        // api.DeployQueue
	History     Kind = "history"      // []api.Event, the last ones before the interface was opened
	Broken      Kind = "broken"       // []api.Version that failed in the last day
	Branches    Kind = "branches"     // api.BranchTree of Project
	Stores      Kind = "stores"       // StoreList
	Tables      Kind = "tables"       // []api.Table; Arg is the binding
	Rows        Kind = "rows"         // api.RowPage; Arg is JoinArg(binding, table, cursor)
	Query       Kind = "query"        // []api.QueryResult; Arg is JoinArg(binding, SQL), which only reads
	Keys        Kind = "keys"         // api.KeyPage; Arg is JoinArg(binding, prefix, cursor)
	Value       Kind = "value"        // string; Arg is JoinArg(binding, key)
	Objects     Kind = "objects"      // api.ObjectPage; Arg is JoinArg(bucket, prefix, cursor)
	Messages    Kind = "messages"     // QueueContent; Arg is the queue
	Instances   Kind = "instances"    // api.WorkflowInstancePage; Arg is JoinArg(workflow, cursor)
	DataDiff    Kind = "data diff"    // api.DataComparison of Version with Arg, or else with its parent
	Instance    Kind = "instance"     // api.WorkflowInstanceDetail; Arg is JoinArg(workflow, id)
)

// Every returns how often an answer is measured again while a screen shows it; 0 for
// answers that events keep up to date.
func (k Kind) Every() time.Duration {
	switch k { //nolint:exhaustive // the others follow events
	case Branches, Stores, Server, Leases:
		return 30 * time.Second // the server keeps sizes as long; disk, backlog and owners change slowly
	case Summaries, Traffic, Health, Routes, Nodes, Gateways, Messages, Instances, Instance:
		return 5 * time.Second
	}
	return 0
}

// Data reports whether an answer is data of a version, which events do not keep up to
// date: it is read when a screen is opened.
func (k Kind) Data() bool {
	switch k { //nolint:exhaustive // the others are records
	case Stores, Tables, Rows, Query, Keys, Value, Objects, Messages, Instances, Instance, DataDiff, Branches, Plan, ReleasePlan:
		return true
	}
	return false
}

// StoreList is what a version has of data.
type StoreList struct {
	Databases  []api.Database
	Namespaces []api.Namespace
	Buckets    []api.Bucket
	Queues     []api.Queue
	Workflows  []api.Workflow
}

// QueueContent is a queue and its next messages, which stay in it.
type QueueContent struct {
	Queue    api.Queue
	Messages []api.Message
}

const argSeparator = "\x1f"

// JoinArg makes one Arg of several parts.
func JoinArg(parts ...string) string { return strings.Join(parts, argSeparator) }

// SplitArg returns n parts of an Arg.
func SplitArg(arg string, n int) []string {
	return append(strings.SplitN(arg, argSeparator, n), make([]string, n)...)[:n]
}

// Loaded is the answer to a Need.
type Loaded struct {
	Need  Need
	Value any
	Err   error
	At    time.Time
}

// Lines are entries of a followed log.
type Lines struct {
	Need Need
	List []api.LogLine
}

// Events are what happened on the server.
type Events struct{ List []api.Event }

// Link says whether the stream of events is connected.
type Link struct {
	Up     bool
	Resync bool // events may be missing: what is loaded is old
	Err    error
	At     time.Time
}
