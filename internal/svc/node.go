package svc

import "time"

// Node is a machine that runs versions for a server on another one.
type Node struct {
	Name       string // for people
	ID         string
	Node       string // of the cluster that the machine, a pod, is on; "" if the machine is a node itself
	Spares     int    // worker hosts that wait for a version
	Versions   []Ref  // sorted
	RSSBytes   int64  // of all worker hosts and their workerd
	AnsweredAt time.Time
}
