// Package failpoint marks the places where a test can kill the process, so
// that a crash test stops at a known line instead of at a random time.
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
// "registry/<record>/<verb>" after a commit that other parts rely on. Packages
// of lib and server call Hit; failpoint itself imports only the standard library.
//
// A crash test builds the program once with -tags failpoint, starts it with
// the variable set, waits for the process to exit, asserts that SIGKILL ended
// it (else the name was misspelled or never reached), starts it again without
// the variable and checks the invariants:
//
//	cmd := exec.CommandContext(ctx, svcd, "serve")
//	cmd.Env = append(os.Environ(), "SVC_FAILPOINT=deploy/branching/done")
//
// The variable is read once, at the first hit. The package is safe for
// concurrent use: exactly one hit is the n-th.
package failpoint
