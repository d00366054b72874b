// Package atomicfile replaces small files so that a reader, and after [WriteFile] also a
// start after a power failure, sees either the old content or the new one.
package atomicfile
