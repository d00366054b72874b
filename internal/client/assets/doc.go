// Package assets collects the static files of a project: which files of a directory are
// assets (.assetsignore), and what _redirects and _headers say. Lines that cannot be
// understood are notices and not errors, as with wrangler.
//
// Concurrency: all functions may be called at any time; they read the disk.
package assets
