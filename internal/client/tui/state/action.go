package state

// Verb is a change that a person asks for.
type Verb string

// The verbs.
const (
	Release  Verb = "release"  // the code of Version; Arg is JoinArg(production that was shown, "rollback" for earlier code, "force" over its migrations)
	Promote  Verb = "promote"  // Arg is JoinArg(production that was shown, not "" to leave its writes behind)
	Rollback Verb = "rollback" // a promote of Version; Arg as that of Promote
	Archive  Verb = "archive"
	Wake     Verb = "wake"
	Pin      Verb = "pin"
	Unpin    Verb = "unpin"
	Destroy  Verb = "destroy"
	Create   Verb = "create"         // a project
	Delete   Verb = "delete project" // with all versions; Arg is the production that was shown
	Write    Verb = "write"          // SQL; Arg is JoinArg(binding, SQL)
	SetVar   Verb = "set"            // a variable; Arg is JoinArg(name, value)
	UnsetVar Verb = "unset"          // the override Arg

	PutValue     Verb = "store"              // Arg is JoinArg(namespace, key, value)
	DeleteValue  Verb = "delete"             // Arg is JoinArg(namespace, key)
	PauseQueue   Verb = "pause queue"        // Arg is its name
	ResumeQueue  Verb = "resume queue"       // Arg is its name
	Redrive      Verb = "redrive"            // Arg is the name of the queue
	Purge        Verb = "purge"              // Arg is the name of the queue
	PauseRun     Verb = "pause instance"     // Arg is JoinArg(workflow, id)
	ResumeRun    Verb = "resume instance"    // Arg is JoinArg(workflow, id)
	TerminateRun Verb = "terminate instance" // Arg is JoinArg(workflow, id)
)

// Data reports whether the verb changes data of a version, which no event announces.
func (v Verb) Data() bool {
	switch v { //nolint:exhaustive // the others change records
	case Write, PutValue, DeleteValue, PauseQueue, ResumeQueue, Redrive, Purge, PauseRun, ResumeRun, TerminateRun:
		return true
	}
	return false
}

// Action is a change of a version, or of a project if Version is "".
type Action struct {
	Verb             Verb
	Project, Version string
	Arg              string // depends on Verb
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
