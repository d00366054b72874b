// Package artifact issues upload addresses for bundles, so that a client needs only
// the deploy token: create-version returns an address that works once [D11]. With an
// external object store it is a presigned URL; with the embedded one it is a URL of
// our own API with a signed ticket, so the Service keeps no state. An address works
// once because the object is created only if it does not exist.
//
// Package httpapi calls a Service, package deploy is notified of stored bundles, and
// the package imports data/objstore. A Service is safe for concurrent use and owns no
// goroutines.
package artifact
