package bundle

import (
	"bytes"
	"io/fs"
	"time"
)

// Tree is a file system in memory: content by path, for callers of Pack whose files
// are not on disk. It must not change while it is read.
type Tree map[string][]byte

var _ fs.ReadFileFS = Tree(nil)

// Open opens a file of the tree. Directories cannot be opened.
func (t Tree) Open(name string) (fs.File, error) {
	data, ok := t[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &treeFile{Reader: bytes.NewReader(data), name: name}, nil
}

// ReadFile returns a copy of a file's content.
func (t Tree) ReadFile(name string) ([]byte, error) {
	data, ok := t[name]
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	return bytes.Clone(data), nil
}

type treeFile struct {
	*bytes.Reader
	name string
}

func (f *treeFile) Stat() (fs.FileInfo, error) { return treeInfo{f}, nil }
func (f *treeFile) Close() error               { return nil }

type treeInfo struct{ f *treeFile }

func (i treeInfo) Name() string       { return i.f.name }
func (i treeInfo) Size() int64        { return i.f.Size() }
func (i treeInfo) Mode() fs.FileMode  { return fileMode }
func (i treeInfo) ModTime() time.Time { return time.Time{} }
func (i treeInfo) IsDir() bool        { return false }
func (i treeInfo) Sys() any           { return nil }
