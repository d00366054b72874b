package svc

import "time"

// Unmerged is what one version, production in a promote, wrote since another one began with
// the same data, and what that one lacks: a promote of it leaves that behind.
type Unmerged struct {
	// Common is the version whose data both inherited, itself included; "" without a common
	// cut: then Reason says why, and nothing but Instances is counted.
	Common string      `json:"common,omitempty"`
	At     time.Time   `json:"at,omitzero"` // of the fork after which they differ
	Reason NoCommonCut `json:"reason,omitempty"`

	Tables    []UnmergedTable `json:"tables,omitempty"` // of D1 databases, those that changed
	Keys      Written         `json:"keys"`             // of KV namespaces
	Objects   Written         `json:"objects"`          // of R2 buckets
	Messages  Written         `json:"messages"`         // that are in queues
	Instances Written         `json:"instances"`        // of workflows: all of the version's, which begin anew in a child
}

// UnmergedTable is one table of a D1 database.
type UnmergedTable struct {
	Database string `json:"database"`
	Table    string `json:"table"` // "" when a limit was reached before the tables were compared
	Written
}

// Written counts records. With AtLeast the counts are lower bounds.
type Written struct {
	Inserted int64 `json:"inserted"`
	Updated  int64 `json:"updated"`
	Deleted  int64 `json:"deleted"`
	AtLeast  bool  `json:"at_least,omitempty"`
}

// NoCommonCut says why two versions cannot be compared.
type NoCommonCut string

// The reasons; NoCutNone with a common cut.
const (
	NoCutNone        NoCommonCut = ""
	NoCutUnrelated   NoCommonCut = "unrelated"   // no version is an ancestor of both
	NoCutLost        NoCommonCut = "lost"        // the record of the fork, or files that it names, are deleted
	NoCutUnavailable NoCommonCut = "unavailable" // the data could not be read in time
)

// Left is what a promote leaves behind with the version that was production.
type Left struct {
	Unmerged *Unmerged `json:"unmerged,omitempty"` // nil: not counted
	Waiting  *Waiting  `json:"waiting,omitempty"`  // nil: not counted
}

// PromotionPlan is what a promote of a version would change.
type PromotionPlan struct {
	Project    string
	Version    string
	Status     Status // of the version; only a ready one can be promoted
	Production string // "" for none
	Left              // nil without another production
}
