// Package litestream pins the litestream command, the independent reader of
// the tests of replica. It is a module of its own, so that what litestream
// needs is no dependency of this program. Where both need a module it has this
// program's version, which is compiled already.
package litestream
