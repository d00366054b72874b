// Package client is the Go SDK of the svcctl control plane. It deploys a bundle
// as a version, waits for it, promotes it, and reads and changes its data:
//
//	c, err := client.New("http://127.0.0.1:8790", client.Tokens{Deploy: d, Admin: a}, client.Options{})
//	accepted, err := c.CreateVersion(ctx, "shop", api.CreateVersion{Upload: true}, "")
//	err = c.Upload(ctx, *accepted.Upload, file, nil)
//	v, err := c.Wait(ctx, "shop", accepted.ID, nil)
//	p, err := c.Promote(ctx, "shop", v.ID, api.PromoteVersion{})
//
// Records, requests and statuses are the types of package api. A Client is safe
// for concurrent use and holds nothing that must be closed. Lists come in pages;
// a method that begins with All reads page after page. Reading a record whose
// connection is refused is repeated for up to 350 ms; nothing else is repeated.
//
// # Errors
//
// A method returns one of three kinds of error:
//
//   - *Error: the service refused the request. [CodeOf] reads its stable code.
//   - an error that wraps [ErrUnreachable]: the service did not answer.
//   - the error of ctx, when ctx ended first.
//
// [Client.Wait] and [Client.WaitPromotion] add *VersionError and *PromotionError.
//
// Each method names the codes of its refusals; docs/reference/errors.md explains
// them. These codes can come from every method and are not repeated: unauthorized
// (no token, or an unknown one), forbidden (the token of the other role),
// invalid_parameter, timeout, disk_full and internal. A list adds invalid_limit
// and invalid_cursor. A method that sends JSON adds invalid_json, invalid_type,
// unknown_field, body_required, body_incomplete and body_too_large.
//
// The methods that read or change the data of a version need a version that
// serves. They share these codes, called the data codes below: version_not_found,
// version_destroyed, version_archived, version_failed, version_not_ready,
// runtime_unavailable and shutting_down. Those that write add not_durable (the
// object store has not confirmed the write, which may or may not have happened)
// and data_behind (writes are refused until the object store has caught up).
package client
