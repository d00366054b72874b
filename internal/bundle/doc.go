// Package bundle reads and writes the object a client uploads for a version:
// manifest.json and its files as one deterministic tar.zst (or tar.gz) [D40].
// docs/design/bundle-format.md describes the format for people,
// manifest.schema.json for programs.
//
// A bundle is untrusted input. Extract rejects links and paths that leave the
// bundle, counts bytes while reading [D42] and compares every file with the
// manifest. The caller that downloads the object checks its digest.
//
// Errors for users are *svc.Error: bundle_truncated (the object ends early),
// bundle_format (not a compressed tar), bundle_path (a link, device or path
// that a bundle may not hold), bundle_too_large, bundle_mismatch (files and
// manifest differ), manifest_version, and for a manifest's fields
// manifest_invalid and module_type_unknown.
//
// The client packs bundles, the server and hosts read them; bundle imports svc
// alone. It has no state: everything here is safe for concurrent use.
package bundle
