// Package doctor checks an installation from outside, as visitors and pipelines meet it:
// through DNS, TLS and the proxy in front of the server. The server checks itself from inside
// (package checkup). Each check is one small file with a test that makes it fail.
package doctor
