// Package supervisortest is the conformance suite of runtime drivers: what a version does must
// not depend on where its worker host runs. Each driver passes Run with a Supervisor on it.
package supervisortest
