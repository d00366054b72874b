// Package ours runs this project the way its users do: the built program as the
// daemon, its own client library, and bundles that `svcctl bundle` writes. Only
// the runtime that is started by itself is reached below the program's surface.
package ours
