// Package provision finds the pinned workerd, or installs it. The search ends
// at the first of: the path the user set, a package of the system, the cache, an install
// through the user's npm. The registry is the one npm is configured for; what it delivers is
// checked against a sha512 that is part of this program. For a platform without one,
// it is checked against the registry's, as npm does; that is recorded beside the binary,
// and a later install must have the same.
//
// An install appears in the cache by one rename of a synced file, so there is
// never half a binary; what a killed install leaves behind the next one removes.
// A lock file keeps two processes from installing concurrently: the second waits and
// finds the first one's.
//
// Errors for users are *svc.Error with codes that begin with "workerd_".
// Everything is safe for concurrent use, by several processes too.
package provision
