package svc

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode"
)

// Ref names a version of a project.
type Ref struct {
	Project string `json:"project"`
	Version string `json:"version"`
}

// String returns "project/version".
func (r Ref) String() string { return r.Project + "/" + r.Version }

// Compare orders references by project, then by version.
func (r Ref) Compare(o Ref) int {
	return cmp.Or(cmp.Compare(r.Project, o.Project), cmp.Compare(r.Version, o.Version))
}

// Project owns versions; at most one of them is production.
// spec: [C3.1] to [C3.4].
type Project struct {
	ID            string
	GitRemote     string
	ProdVersionID string            // "" until a version is assigned
	PreviewParent string            // what the first version of a preview name begins with, or ParentProduction; "" for nothing
	PreviewEnv    map[string]string // variables of every version with a preview name
	Guard         bool              // a promote that leaves writes behind needs the consent of its caller
	ReadOnly      bool              // requests and events may not write
	WorkerName    string            // of the worker whose name became the id, as its project file has it; "" if not known
	CreatedAt     time.Time
	UpdatedAt     time.Time

	ObjectNamespace ObjectNamespace // of root versions
}

// ArmsCron reports whether v, a version of p, may run scheduled handlers by itself.
// spec: [C10.1] [C10.2] [C10.3]
func (p Project) ArmsCron(v Version) bool {
	return v.Status == StatusReady && (p.ProdVersionID == "" && v.Events == EventsOn || p.ProdVersionID == v.Version)
}

// maxRemote is the maximum length of a git remote in bytes.
const maxRemote = 2048

// Validate checks every field and returns one error for all that are invalid.
func (p Project) Validate() error {
	var fields []FieldError
	if err := CheckProjectID(p.ID); err != nil {
		fields = append(fields, FieldError{"/id", CodeOf(err), AsError(err).Detail})
	}
	if len(p.GitRemote) > maxRemote || strings.ContainsFunc(p.GitRemote, unicode.IsControl) {
		fields = append(fields, FieldError{"/git_remote", CodeInvalidGitRemote, fmt.Sprintf("want at most %d bytes without control characters", maxRemote)})
	}
	return Invalid(fields)
}

// Version is one immutable deployment of a project [D12].
// Zero times mean "has not happened".
type Version struct {
	Ref
	ParentID      string // "" for a root version
	GitRef        string
	GitSHA        string
	PreviewName   string // "" for none
	PreviewKeep   int    // PreviewRequest.Keep
	Digest        string // artifact_digest, "sha256:<hex>"; "" until known
	Env           map[string]string
	Labels        map[string]string `json:",omitempty"` // nil for none
	Status        Status
	Error         string    // "<step>: <code>: <text>" when failed [D16]
	ErrorOutput   string    // final output of the worker, if it did not start
	ForkTXID      string    // the cut in the parent's data; "" without a fork
	ParentAt      time.Time // the moment of the parent that was asked for; zero for the newest data
	ScrubID       string    // Scrub.ID of the scrub that its databases need; "" for none
	Pinned        bool
	PinAuto       bool // the pin is that of a previous production (SVC_ROLLBACK_KEEP)
	Production    bool // derived: the project's pointer names this version
	SizeBytes     int64
	Timeline      []StepRun
	Warnings      []string
	CreatedAt     time.Time
	UpdatedAt     time.Time
	ReadyAt       time.Time
	WokenAt       time.Time
	LastRequestAt time.Time
	AsleepAt      time.Time // since when the runtime sleeps; zero while it does not
	Waiting       Waiting   // what the end of the runtime left undone; only in the answer of an archive
	WakeAt        time.Time // when a version that sleeps must run for its own work; zero for never
	Events        Events    // which events of its own reach the worker while the version is not production
	ReleasedFrom  string    // the candidate of the release that made the version; "" without one
	HandedOverTo  string    // the version that a release made continue with the data; "" without one
	Migrated      Migrated

	ObjectNamespace ObjectNamespace // the parent's, or of a root the project's; it never changes
}

// ForkedFrom returns the id of the version that the data was forked from; "" for a
// root and for a version whose parent had no data.
func (v Version) ForkedFrom() string {
	if v.ForkTXID == "" {
		return ""
	}
	return v.ParentID
}

// Failure returns the step that failed and the code of its error [D16]; "" for a
// version that has not failed.
func (v Version) Failure() (step, code string) {
	parts := strings.SplitN(v.Error, ": ", 3)
	if v.Status != StatusFailed || len(parts) < 3 {
		return "", ""
	}
	return parts[0], parts[1]
}

// StepRun is one row of a version's timeline.
type StepRun struct {
	Step      string
	Status    StepStatus
	StartedAt time.Time
	EndedAt   time.Time // zero while it runs
	Detail    string
}

// StepStatus is the state of a step of a deploy or a saga.
type StepStatus string

// The states of a step.
const (
	StepRunning StepStatus = "running"
	StepDone    StepStatus = "done"
	StepFailed  StepStatus = "failed"
	StepUndone  StepStatus = "undone" // a saga's step that was compensated
)

// ParentProduction as a parent is the production of the project when the version is created [D53]. No
// id can be equal to it.
const ParentProduction = "@production"

// validParent reports whether text can name a parent.
func validParent(text string) bool { return text == ParentProduction || CheckID(text) == nil }

// NewVersion is a request to create a version. spec: [C13.5].
type NewVersion struct {
	Project  string
	ID       string    // "" lets the registry generate one [D2]
	ParentID string    // or ParentProduction
	ParentAt time.Time // begin with the parent's data at or before this moment; zero for the newest
	GitRef   string
	GitSHA   string
	Digest   string
	Env      map[string]string
	Preview  PreviewRequest
	Labels   map[string]string
	// BundleFrom is a version of the project whose bundle this one has; "" for a bundle of its own. It is not
	// recorded.
	BundleFrom string
	Asleep     bool // become ready without a start; only static files differ from the parent's
	Events     Events

	// WorkerName is the name that the project id was made from, "" for none that is known. It has to be that of the
	// project, which takes it if it has none, or if WorkerRenamed.
	WorkerName    string
	WorkerRenamed bool

	// ReleasedFrom is the candidate of a release, "" for every other version: then no job deploys
	// the version, and Env is the whole of its overrides.
	ReleasedFrom string
}

// maxLabel is the maximum length of git_ref and git_sha in bytes.
const maxLabel = 255

// Validate checks every field and returns one error for all that are invalid.
func (n NewVersion) Validate() error {
	var fields []FieldError
	if n.ID != "" {
		if err := CheckID(n.ID); err != nil {
			fields = append(fields, FieldError{"/id", CodeInvalidID, err.Error()})
		}
	}
	if n.ParentID != "" && (n.ParentID == n.ID || !validParent(n.ParentID)) {
		fields = append(fields, FieldError{"/parent_version_id", CodeParentNotFound, "want the id of another version of the project, or @production"})
	}
	if n.BundleFrom != "" && (n.BundleFrom == n.ID || CheckID(n.BundleFrom) != nil) {
		fields = append(fields, FieldError{"/bundle_from", CodeInvalidID, "want the id of another version of the project"})
	}
	fields = append(fields, n.checkParentAt(time.Now())...)
	if n.Asleep && n.ParentID == "" {
		fields = append(fields, FieldError{"/asleep", CodeWorkerDiffers, "a version that begins asleep has the worker of its parent, and no parent is named"})
	}
	if n.Events != EventsOn && n.Events != EventsOff {
		fields = append(fields, FieldError{"/events", CodeInvalidEvents, "want on or off"})
	}
	if n.Digest != "" && !ValidDigest(n.Digest) {
		fields = append(fields, FieldError{"/artifact_digest", CodeInvalidDigest, "want sha256: and 64 lowercase hex digits"})
	}
	for _, label := range []struct{ pointer, value string }{{"/git_ref", n.GitRef}, {"/git_sha", n.GitSHA}} {
		if len(label.value) > maxLabel || strings.ContainsFunc(label.value, unicode.IsControl) {
			fields = append(fields, FieldError{label.pointer, CodeInvalidLabel, fmt.Sprintf("want at most %d bytes without control characters", maxLabel)})
		}
	}
	fields = append(fields, CheckEnv(n.Env, "/env")...)
	fields = append(fields, n.Preview.check(n)...)
	fields = append(fields, checkLabels(n.Labels)...)
	return Invalid(fields)
}

// Invalid returns one Unprocessable error with the code of the first field; nil
// without fields.
func Invalid(fields []FieldError) error {
	if len(fields) == 0 {
		return nil
	}
	detail := fields[0].Detail
	if len(fields) > 1 {
		detail = fmt.Sprintf("%d fields are invalid", len(fields))
	}
	return &Error{Kind: Unprocessable, Code: fields[0].Code, Detail: detail, Fields: fields}
}

// Promotion is one run of the promote saga [D19].
type Promotion struct {
	ID         string // operation_id
	Project    string
	Version    string
	Previous   string // "" when the project had no production
	Kind       PromotionKind
	Candidate  string // of a release: the version whose artifact is released
	Reason     string
	Status     PromotionStatus
	Error      string
	Steps      []StepRun
	CreatedAt  time.Time
	FinishedAt time.Time
	CutOver    CutOver
	Left       Left
	Released   Released
	Watch      Watch // of a release
}

// CutOver is how long a change of production took for the requests of its host name. A
// time that is not known is 0.
type CutOver struct {
	Held   time.Duration // how long new requests waited at most
	Window time.Duration // from the last answer of the old version to the first of the new one
}

// PromotionOutcome is what a promotion ended with.
type PromotionOutcome struct {
	Status  PromotionStatus
	Error   string // for people; cut to 2 KiB
	CutOver CutOver
	Left    Left

	Released Released
	Watch    Watch // as it begins with a release that is done; zero leaves what is stored
}

// PromotionStatus is the state of a promotion.
type PromotionStatus string

// The states of a promotion.
const (
	PromotionRunning   PromotionStatus = "running"
	PromotionDone      PromotionStatus = "done"
	PromotionFailed    PromotionStatus = "failed" // compensated
	PromotionUnchanged PromotionStatus = "unchanged"
)

// PageRequest is a request for one page of a list, newest first [D7].
type PageRequest struct {
	Limit  int
	Before int64 // position of the last row of the previous page; 0 for the first page
}

// Page is one page of a list. Next is 0 on the last page.
type Page[T any] struct {
	Items []T
	Next  int64
}

// Change holds the fields that a status transition writes in the same transaction.
type Change struct {
	Error       string // with TriggerFail: the version's error [D16]
	ErrorOutput string // with TriggerFail: final output of the worker
	Detail      string // for the timeline row that the transition ends
	// FirstProduction, with TriggerActivate, makes the version production if its
	// project has none.
	FirstProduction bool
	// Unpinned, with TriggerArchive, archives only a version without a pin.
	Unpinned bool
	// InsteadOf, with TriggerActivate, makes the version production in place of this one, whose
	// events it takes over: the commit of a release.
	InsteadOf string
}

// Upload is an address that accepts one bundle [D11].
type Upload struct {
	Method    string
	URL       string
	Headers   map[string]string
	ExpiresAt time.Time
	AssetsURL string // of the same version's static files, for the bundle that leaves them out
}

// Receipt describes a stored upload.
type Receipt struct {
	Digest string // "sha256:<hex>"
	Size   int64  // bytes
}

// AssetsReceipt describes stored static files.
type AssetsReceipt struct {
	Files int
	Bytes int64
}
