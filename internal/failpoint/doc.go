// Package failpoint marks the places where a test may kill the process, so
// that crash tests strike at a known line instead of at a random moment.
//
// In an ordinary build [Hit] is an empty function that the compiler removes.
// In a build with the tag "failpoint" it kills its own process with SIGKILL,
// which no deferred function, signal handler or buffered writer survives, when
// the environment variable SVC_FAILPOINT names it:
//
//	SVC_FAILPOINT=deploy/fetching        the first hit of deploy/fetching
//	SVC_FAILPOINT=saga/drain/started:2   its second hit
//
// A name is "<owner>/<place>" in lower case: "deploy/fetching",
// "promote/drain", and, from package saga for every step of every saga,
// "saga/<step>/<point>".
//
// A crash test builds the program once with -tags failpoint, starts it with
// the variable set, waits until the process is gone, asserts that it died of
// SIGKILL (else the name was misspelled or never reached), starts it again
// without the variable and checks the invariants:
//
//	cmd := exec.CommandContext(ctx, svcd, "serve")
//	cmd.Env = append(os.Environ(), "SVC_FAILPOINT=deploy/branching")
//
// The variable is read once, at the first hit. The package is safe for
// concurrent use: exactly one hit is the n-th.
package failpoint
