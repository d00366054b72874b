package svc

import "time"

// Traffic summarizes the requests of a version, a project, or all, in a window.
type Traffic struct {
	Requests int64
	Errors   int64 // answered with 5xx
	// Exceptions are the requests that ended because the worker threw.
	Exceptions int64
	Bytes      int64 // of the bodies of responses, as sent
	P50, P95   time.Duration
	// Samples are the requests, and ErrorSamples the errors, of each equal part of the
	// window, oldest first.
	Samples, ErrorSamples []int64
	// P95Samples are the P95 of each part; nil unless of all requests.
	P95Samples []time.Duration
}

// TrafficSummary is the traffic of a window.
type TrafficSummary struct {
	Window, Sample time.Duration
	Total          Traffic
	Projects       map[string]Traffic
	Versions       map[Ref]Traffic
}

// QueuedJob is a deploy that waits or runs.
type QueuedJob struct {
	Ref      Ref
	Status   Status
	Running  bool
	Attempt  int
	Position int // among the waiting ones, from 1; 0 for a running one
	QueuedAt time.Time
	RunAt    time.Time // a waiting job does not start earlier
}

// VersionFilter selects versions of all projects; zero fields select all.
type VersionFilter struct {
	Project  string
	Statuses []Status // none for all but destroyed
	GitRef   string
	ParentID string
	Pinned   *bool
	Since    time.Time     // created at or after
	Until    time.Time     // created at or before; zero for any
	Labels   []LabelFilter // all of them
	Text     string        // in the id, the ref, the commit or the error
}

// ServerState is where a server keeps its data, and what of it is copied.
type ServerState struct {
	DataDir          string
	DiskTotal        int64         // bytes, of the disk of DataDir
	DiskFree         int64         // bytes that the server may write there
	ObjectStore      string        // URL; "" for the embedded one
	RegistryCopiedAt time.Time     // zero for never, and with the embedded object store
	RegistryBehind   time.Duration // since when a change waits for its copy; 0 if none does
	DataBehind       time.Duration // age of the oldest write of a live version that is not in the object store
	BackupAt         time.Time     // of the last backup by hand; zero for none
	BackupTo         string        // place of that backup

	WorkerdVersion string // what `workerd --version` prints
	WorkerdPath    string
}

// SettingValue is a setting in effect.
type SettingValue struct {
	Name   string
	Value  string // "" for a secret
	Secret bool
	Source string // "default", "environment", "file" or "flag"
}
