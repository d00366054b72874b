// Package svctest is the kit that tests of many packages share:
//
//   - [Main] is the TestMain of a package: it checks that no goroutine is left,
//     and lets the test binary run as another program, a role, in a child process.
//   - [Start] runs a role that tests talk to and kill ([Process]).
//   - [Wait] waits for an event, [Eventually] polls for what has none.
//   - [Buffer] is a log that can be read while it is written.
//   - [Golden] compares with a file of testdata, and writes it.
//   - [ShortDir] is a temporary directory whose path is short enough for sockets.
//
// Fakes of one package stand beside it (registrytest, objstoretest, deployqueuetest).
// Only tests and other test kits import this package; archtest holds them to it.
//
// Time limits are for hanging tests, not for slow machines: [Patience] is far more
// than anything takes. Tests of durations use testing/synctest.
package svctest
