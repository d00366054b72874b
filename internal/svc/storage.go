package svc

import (
	"strings"
	"time"
)

// Storage says where the data of versions is, and which owner a worker host acts
// for. It holds a secret.
type Storage struct {
	Endpoint  string        `json:"endpoint"` // http(s)://host[:port], or unix:/path of a socket
	Region    string        `json:"region"`
	AccessKey string        `json:"access_key"`
	SecretKey string        `json:"secret_key"` // in clear, for the control line
	Data      Place         `json:"data"`       // of the logs
	Manifests Place         `json:"manifests"`
	Artifacts Place         `json:"artifacts"` // of bundles, for a host on another machine; else zero
	Owner     Owner         `json:"owner"`
	Sync      bool          `json:"sync"`              // SVC_DURABILITY=sync
	Window    time.Duration `json:"window"`            // SVC_SYNC_WINDOW
	Lease     time.Duration `json:"lease"`             // SVC_LEASE_TTL; 0 if no other node uses the object store
	Grace     time.Duration `json:"grace"`             // SVC_GC_GRACE
	History   bool          `json:"history,omitempty"` // SVC_HISTORY is not off
}

// OnNode reports whether the data is in the object store that is embedded in the daemon of
// this node.
func (s *Storage) OnNode() bool { return strings.HasPrefix(s.Endpoint, "unix:") && s.Data.Dir == "" }

// Place is a bucket of the object store, or a directory.
type Place struct {
	Bucket string `json:"bucket"`
	Prefix string `json:"prefix"` // before every key, "" or with a slash at its end
	Dir    string `json:"dir"`    // instead of both
}

// Owner is a process that may own the data of versions. Node is the identity of a
// data directory, kept there under a lock, so a new session of a node can assume
// that the previous one has ended. Session identifies one process.
type Owner struct {
	Node    string `json:"host"`
	Session string `json:"session"`
}

// RequestCount is the number of object store requests of one operation with one
// result, and the time until their responses began, together.
type RequestCount struct {
	Op     string        `json:"op"`
	Result string        `json:"result"`
	N      int           `json:"n"`
	Took   time.Duration `json:"took"`
}

// Forked is the result of a fork.
type Forked struct {
	TXID      string // the cut, for the version's record; "" if the parent had no database
	Databases int
	At        time.Time // of the data, for a fork in the past; else zero
	Warm      string    // opaque: lets the child start from local files of the parent; "" if that is not possible
}

// On returns the owner that a machine is, on which o, a daemon, runs worker hosts.
func (o Owner) On(machine string) Owner {
	o.Node += machineMark + machine
	return o
}

// machineMark separates the node of a daemon from the machine. No node has it.
const machineMark = "."

// DaemonOf returns the node of the daemon that node belongs to: node itself, unless it is a
// machine that runs worker hosts for a daemon.
func DaemonOf(node string) string {
	daemon, _, _ := strings.Cut(node, machineMark)
	return daemon
}
