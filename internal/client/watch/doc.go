// Package watch reports which files of a directory tree have changed, in batches.
//
// It asks the system for changes of each directory (not of files: editors replace
// them). If the system has no watches left, it compares the files' times and sizes
// instead, and says so once. What belongs together arrives together: a batch ends
// when nothing has changed for a moment.
//
// Hidden directories (but .well-known) and node_modules are not entered; files and
// directories in them, and outside of the tree, are reported if [Watcher.Also] names them. [Watcher.Read] names
// the files whose content matters.
package watch
