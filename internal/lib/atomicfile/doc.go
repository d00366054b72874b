// Package atomicfile replaces small files so that a reader, and after [WriteFile] also a
// start after a power failure, sees either the old content or the new one. [Create] does so for a file
// that a person names, which may also be a pipe, a device or a link.
package atomicfile
