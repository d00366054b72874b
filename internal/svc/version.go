package svc

import (
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

// String gives "project/version".
func (r Ref) String() string { return r.Project + "/" + r.Version }

// Project owns versions; at most one of them is production.
// spec: Resources and their fields, Project.
type Project struct {
	ID            string
	GitRemote     string
	ProdVersionID string // "" until a version is assigned
	CreatedAt     time.Time
	UpdatedAt     time.Time
}

// maxRemote is the length of a git remote, in bytes.
const maxRemote = 2048

// Validate checks every field and reports all that are wrong at once.
func (p Project) Validate() error {
	var fields []FieldError
	if err := CheckProjectID(p.ID); err != nil {
		fields = append(fields, FieldError{"/id", CodeOf(err), AsError(err).Detail})
	}
	if len(p.GitRemote) > maxRemote || strings.ContainsFunc(p.GitRemote, unicode.IsControl) {
		fields = append(fields, FieldError{"/git_remote", "invalid_git_remote", fmt.Sprintf("want at most %d bytes without control characters", maxRemote)})
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
	Digest        string // artifact_digest, "sha256:<hex>"; "" until known
	Env           map[string]string
	Status        Status
	Error         string // "<step>: <code>: <text>" when failed [D16]
	ForkTXID      string // the cut in the parent's data; "" without one
	ScrubID       string // Scrub.ID of what its databases need before it serves; "" for nothing
	Pinned        bool
	Production    bool // derived: the project's pointer names this version
	SizeBytes     int64
	Timeline      []StepRun
	Warnings      []string
	CreatedAt     time.Time
	UpdatedAt     time.Time
	ReadyAt       time.Time
	WokenAt       time.Time
	LastRequestAt time.Time
}

// BranchedFrom is the parent whose data the version began with; "" for a root, and
// for one whose parent had none.
func (v Version) BranchedFrom() string {
	if v.ForkTXID == "" {
		return ""
	}
	return v.ParentID
}

// StepRun is one row of a version's timeline.
type StepRun struct {
	Step      string
	Status    StepStatus
	StartedAt time.Time
	EndedAt   time.Time // zero while it runs
	Detail    string
}

// StepStatus is how a step of a deploy or a saga stands.
type StepStatus string

// The states of a step.
const (
	StepRunning StepStatus = "running"
	StepDone    StepStatus = "done"
	StepFailed  StepStatus = "failed"
	StepUndone  StepStatus = "undone" // a saga's step that was compensated
)

// NewVersion is what a client asks for. spec: POST /projects/{p}/versions.
type NewVersion struct {
	Project  string
	ID       string // "" lets the registry generate one [D2]
	ParentID string
	GitRef   string
	GitSHA   string
	Digest   string
	Env      map[string]string
}

// maxLabel is the length of git_ref and git_sha, in bytes.
const maxLabel = 255

// Validate checks every field and reports all that are wrong at once.
func (n NewVersion) Validate() error {
	var fields []FieldError
	if n.ID != "" {
		if err := CheckID(n.ID); err != nil {
			fields = append(fields, FieldError{"/id", "invalid_id", err.Error()})
		}
	}
	if n.ParentID != "" && (n.ParentID == n.ID || CheckID(n.ParentID) != nil) {
		fields = append(fields, FieldError{"/parent_version_id", "parent_not_found", "want the id of another version of the project"})
	}
	if n.Digest != "" && !ValidDigest(n.Digest) {
		fields = append(fields, FieldError{"/artifact_digest", "invalid_digest", "want sha256: and 64 lower-case hex digits"})
	}
	for _, label := range []struct{ pointer, value string }{{"/git_ref", n.GitRef}, {"/git_sha", n.GitSHA}} {
		if len(label.value) > maxLabel || strings.ContainsFunc(label.value, unicode.IsControl) {
			fields = append(fields, FieldError{label.pointer, "invalid_label", fmt.Sprintf("want at most %d bytes without control characters", maxLabel)})
		}
	}
	fields = append(fields, CheckEnv(n.Env, "/env")...)
	return Invalid(fields)
}

// Invalid turns field errors into one 422 whose code is the first field's; nil
// for none.
func Invalid(fields []FieldError) error {
	if len(fields) == 0 {
		return nil
	}
	detail := fields[0].Detail
	if len(fields) > 1 {
		detail = fmt.Sprintf("%d fields are not acceptable", len(fields))
	}
	return &Error{Kind: Unprocessable, Code: fields[0].Code, Detail: detail, Fields: fields}
}

// Promotion is one run of the promote saga [D19].
type Promotion struct {
	ID         string // operation_id
	Project    string
	Version    string
	Previous   string // "" when the project had no production
	Reason     string
	Status     PromotionStatus
	Error      string
	Steps      []StepRun
	CreatedAt  time.Time
	FinishedAt time.Time
}

// PromotionStatus is how a promotion stands.
type PromotionStatus string

// The states of a promotion.
const (
	PromotionRunning   PromotionStatus = "running"
	PromotionDone      PromotionStatus = "done"
	PromotionFailed    PromotionStatus = "failed" // compensated
	PromotionUnchanged PromotionStatus = "unchanged"
)

// PageRequest asks for rows older than a position, newest first [D7].
type PageRequest struct {
	Limit  int
	Before int64 // position of the last row of the page before; 0 for the first
}

// Page is one page of a list. Next is 0 on the last one.
type Page[T any] struct {
	Items []T
	Next  int64
}

// Change is what a move of a version's status writes along with it.
type Change struct {
	Error  string // with TriggerFail: the version's error [D16]
	Detail string // a note for the timeline row that the move ends
	// FirstProduction, with TriggerActivate, makes the version production if its
	// project has none, in the same transaction.
	FirstProduction bool
}

// Upload is an address at which a bundle may be put once [D11].
type Upload struct {
	Method    string
	URL       string
	Headers   map[string]string
	ExpiresAt time.Time
}

// Receipt says what an upload stored.
type Receipt struct {
	Digest string // "sha256:<hex>"
	Size   int64  // bytes
}
