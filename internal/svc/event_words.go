package svc

import "strings"

// Sentence says in words what an event means: who or what it is about, and what happened. said is ""
// for an event that is a part of another one, such as a step of a deploy.
func (e FeedEvent) Sentence() (about, said string) {
	about = strings.TrimSuffix(e.Project+"/"+e.Version, "/")
	group, _, _ := strings.Cut(e.Type, ".")
	switch group {
	case "version":
		return about, e.ofVersion()
	case "project":
		return about, e.ofProject()
	case "promotion":
		return about, e.ofPromotion()
	case "runtime":
		return about, e.ofRuntime()
	case "env":
		return about, "has other variables"
	case "queue":
		return about, ""
	case FeedAudit:
		return e.ofAudit()
	}
	return e.ofServer()
}

// ofVersion is Sentence for a version.
func (e FeedEvent) ofVersion() string {
	switch name := strings.TrimPrefix(e.Type, "version."); name {
	case "created":
		return "is being deployed" + with(" from ", e.Data.GitRef)
	case "status":
		return e.ended()
	case "step":
		return ""
	case "warning":
		return "warns" + with(": ", e.Data.Detail)
	default: // archived, woken, destroyed, pinned, unpinned
		return "was " + name
	}
}

// ended says how a deploy ended; "" while it runs.
func (e FeedEvent) ended() string {
	switch {
	case e.Data.Status == string(StatusFailed):
		return "failed" + with(": ", e.Data.Error)
	case e.Data.Status == string(StatusReady) && Status(e.Data.Previous).InDeploy():
		return "is ready"
	}
	return ""
}

// ofProject is Sentence for a project. The end of a promote says which version is production.
func (e FeedEvent) ofProject() string {
	switch e.Type {
	case "project.production":
		if e.Data.Previous != "" || e.Version == "" {
			return ""
		}
		return "became the first production"
	default: // created, deleted
		return "was " + strings.TrimPrefix(e.Type, "project.")
	}
}

// ofPromotion is Sentence for a promote or a release: one for all of its steps.
func (e FeedEvent) ofPromotion() string {
	switch {
	case e.Type == FeedWatch:
		return e.ofWatch()
	case e.Type != "promotion.done":
		return ""
	case e.Data.Status == "done":
		return "became production" + within(" (was ", e.Data.Previous, ")")
	}
	return "did not become production" + with(": ", e.Data.Error)
}

// ofWatch is Sentence for the watch over a release.
func (e FeedEvent) ofWatch() string {
	said, ok := map[string]string{
		"watching": "is watched after its release", "passed": "passed the watch after its release",
		"aborted": "did not pass the watch after its release", "stopped": "is no longer watched",
	}[e.Data.Status]
	if !ok {
		said = "is watched: " + e.Data.Status
	}
	return said + with(": ", e.Data.Detail)
}

// ofRuntime is Sentence for the process of a version.
func (e FeedEvent) ofRuntime() string {
	switch e.Type {
	case FeedRuntimeUp:
		return "serves"
	case FeedRuntimeAsleep:
		return "sleeps, since nothing asks for it"
	case FeedRuntimeWaiting:
		return "waits for a worker host" + with(": ", e.Data.Detail)
	case FeedRuntimeRestarted:
		return "crashed and is started again" + with(": ", e.Data.Error)
	}
	return "no longer serves" + with(": ", e.Data.Error)
}

// ofServer is Sentence for the server itself.
func (e FeedEvent) ofServer() (about, said string) {
	const server = "the server"
	switch {
	case e.Type == FeedServerStarted:
		return server, "was started"
	case e.Type == FeedHealth:
		return server, "is " + e.Data.Status + within(" (was ", e.Data.Previous, ")") + with(": ", e.Data.Detail)
	case e.Type == FeedGC && e.Data.Error != "":
		return server, "could not sweep the object store: " + e.Data.Error
	case e.Type == FeedGC:
		return server, "swept the object store" + with(": ", e.Data.Detail)
	}
	return server, strings.TrimSpace(e.Type + " " + e.Data.Detail)
}

// with is a text behind what leads to it; "" without the text.
func with(before, text string) string { return within(before, text, "") }

func within(before, text, after string) string {
	if text == "" {
		return ""
	}
	return before + text + after
}
