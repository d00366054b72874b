// Package litestream pins the litestream command, the independent reader in the tests of
// replica. It is a separate module, so that dependencies of litestream are not those of
// this program. Modules that both need have this program's version, which is compiled
// already.
package litestream
