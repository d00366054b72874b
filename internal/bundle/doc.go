// Package bundle reads and writes the object a client uploads for a version:
// manifest.json and its files as one deterministic tar.zst (or tar.gz) [D40].
//
// A bundle comes from outside. Open trusts nothing: it checks the digest,
// refuses links and paths that leave the bundle, counts bytes while reading
// [D42] and compares every file with the manifest.
package bundle
