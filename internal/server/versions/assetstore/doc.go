// Package assetstore keeps the static files of versions in the artifacts bucket by the
// hash of their content, so that versions of a project share them and a client uploads
// only those that are missing. docs/adr/0016-static-assets-in-the-bundle.md has the
// reasons.
//
// The objects, below _assets/{project}/:
//
//	files/{sha256}    one file
//	asked/{version}   the files that the upload of a version announced
//	lists/{version}   the files of a version's manifest
//	kept/{version}    the files of earlier versions that a version serves beside its own (JSON)
//
// A list is written before its files are looked up, and names them for [Store.Collect].
// Both happen under the lock of the project, so that a file that a client was told to
// exist is not deleted before the version that needs it has ended. Another server on the
// same object store does not see the lock: there the grace of the collection protects,
// and a deploy whose file was deleted fails by its name.
//
// Package artifact calls a Store for uploads, deploy to unpack bundles, gc to collect.
// The package imports bundle, data/objstore, lib/keyed and svc. A Store is safe for
// concurrent use and owns no goroutines after a call has returned.
package assetstore
