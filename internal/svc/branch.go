package svc

import "time"

// BranchSizes says what the objects of a project's versions are for.
type BranchSizes struct {
	MeasuredAt time.Time // zero if it was never measured
	Incomplete bool      // the time limit ended the measurement
	Versions   map[string]BranchSize
}

// BranchSize counts the objects of one version.
type BranchSize struct {
	Own       Amount // written by it, and needed by it
	Exclusive Amount // of Own, those that no other version needs
	Shared    Amount // written by other versions, and needed by it
	Kept      Amount // written by it, and needed by other versions only
}

// Branch is a version in the tree of a project's data.
type Branch struct {
	Version  Version // with ids, labels, status and time of creation only
	Depth    int     // 0 for a root
	Children int     // in the tree
}

// Branches returns the tree of versions: each child after its parent, oldest first. A
// destroyed version is in the tree if keeps reports that its objects are needed, or if
// it has a descendant in the tree. versions are oldest first.
func Branches(versions []Version, keeps func(id string) bool) []Branch {
	t := branchTree{children: map[string][]Version{}, keeps: keeps}
	known := make(map[string]bool, len(versions))
	for _, v := range versions {
		known[v.Version] = true
	}
	for _, v := range versions {
		parent := v.ParentID
		if !known[parent] {
			parent = ""
		}
		t.children[parent] = append(t.children[parent], v)
	}
	list, _ := t.below("", 0)
	return list
}

type branchTree struct {
	children map[string][]Version
	keeps    func(id string) bool
}

// below returns the tree below a version, and the number of its children in it.
func (t branchTree) below(id string, depth int) (list []Branch, n int) {
	for _, v := range t.children[id] {
		sub, children := t.below(v.Version, depth+1)
		if v.Status == StatusDestroyed && children == 0 && !t.keeps(v.Version) {
			continue
		}
		n++
		list = append(list, Branch{Version: v, Depth: depth, Children: children})
		list = append(list, sub...)
	}
	return list, n
}
