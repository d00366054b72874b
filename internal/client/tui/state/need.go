package state

import (
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
	Projects   Kind = "projects"   // []api.Project
	Project    Kind = "project"    // api.Project: updates Projects
	Versions   Kind = "versions"   // []api.Version of Project, newest first
	Version    Kind = "version"    // api.Version: updates Versions, too
	Promotions Kind = "promotions" // []api.Promotion of Project, newest first
	Bindings   Kind = "bindings"   // []api.Binding
	Env        Kind = "env"        // map[string]string, with the values
	Health     Kind = "health"     // api.DeepHealth
	Routes     Kind = "routes"     // []api.Route
	Logs       Kind = "logs"       // a stream of Lines while it is needed; Arg is a level
)

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

// Verb is a change that a person asks for.
type Verb string

// The verbs.
const (
	Promote  Verb = "promote"
	Rollback Verb = "rollback"
	Archive  Verb = "archive"
	Wake     Verb = "wake"
	Pin      Verb = "pin"
	Unpin    Verb = "unpin"
	Destroy  Verb = "destroy"
	Create   Verb = "create" // a project
)

// Action is a change of a version, or of a project if Version is "".
type Action struct {
	Verb             Verb
	Project, Version string
}

// Target names what the action is for.
func (a Action) Target() string {
	if a.Version == "" {
		return a.Project
	}
	return a.Project + "/" + a.Version
}

// Done is the end of an action.
type Done struct {
	Action Action
	Note   string // what it did, if Err is nil
	Err    error
}
