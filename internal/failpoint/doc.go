// Package failpoint marks the places where a test may kill the process, so
// that crash tests strike at a known line instead of at a random moment.
//
// In an ordinary build [Hit] is an empty function that the compiler removes.
// In a build with the tag "failpoint" it kills its own process with SIGKILL,
// which no deferred function, signal handler or buffered writer survives, when
// the environment variable SVC_FAILPOINT names it:
//
//	SVC_FAILPOINT=saga/drain/started     the first hit of saga/drain/started
//	SVC_FAILPOINT=saga/drain/started:2   its second hit
//
// A name is "<owner>/<thing>/<point>" in lower case: "deploy/<step>/started"
// and "done", "saga/<step>/<point>" for every step of every saga, and
// "registry/<record>/<verb>" after a commit that others rely on.
//
// A crash test builds the program once with -tags failpoint, starts it with
// the variable set, waits until the process is gone, asserts that it died of
// SIGKILL (else the name was misspelled or never reached), starts it again
// without the variable and checks the invariants:
//
//	cmd := exec.CommandContext(ctx, svcd, "serve")
//	cmd.Env = append(os.Environ(), "SVC_FAILPOINT=deploy/branching/done")
//
// The variable is read once, at the first hit. The package is safe for
// concurrent use: exactly one hit is the n-th.
package failpoint
