package svc

import (
	"fmt"
	"time"
)

// MaxPreviewKeep is the largest number of earlier versions of a preview that stay ready.
const MaxPreviewKeep = 20

// PreviewRequest gives a new version a preview name. The zero value gives none.
type PreviewRequest struct {
	Name  string
	Fresh bool // begin like the first version of the name, not with the data of the last one
	Keep  int  // number of earlier versions of the name that stay ready after the switch
}

// check returns one error for each invalid field of n that belongs to its preview name.
func (p PreviewRequest) check(n NewVersion) (fields []FieldError) {
	if p.Name == "" {
		if p.Fresh || p.Keep != 0 {
			fields = append(fields, FieldError{"/preview_name", CodeInvalidPreview, "preview_fresh and preview_keep need a preview_name"})
		}
		return fields
	}
	if err := CheckID(p.Name); err != nil {
		fields = append(fields, FieldError{"/preview_name", CodeInvalidID, err.Error()})
	}
	if p.Name == n.ID {
		fields = append(fields, FieldError{"/preview_name", CodePreviewNameTaken, "a preview name and a version id must differ: both would have one host name"})
	}
	if p.Fresh && n.ParentID != "" {
		fields = append(fields, FieldError{"/preview_fresh", CodeInvalidPreview, "preview_fresh and parent_version_id exclude each other"})
	}
	if p.Keep < 0 || p.Keep > MaxPreviewKeep {
		fields = append(fields, FieldError{"/preview_keep", CodeInvalidPreview, fmt.Sprintf("want 0 to %d", MaxPreviewKeep)})
	}
	return fields
}

// Preview is a name for the versions of one branch. Its host name belongs to the
// newest of them that has been ready.
type Preview struct {
	Project  string
	Name     string
	Current  Version   // Version.Version is "" until one has been ready; without Env, Timeline and Warnings
	Newest   Version   // the last one that was created; it may have failed
	Versions int       // that are not destroyed
	Since    time.Time // when the oldest of them was created
}

// ProjectChange holds new values of a project's settings; nil fields do not change.
type ProjectChange struct {
	PreviewParent *string            // or ParentProduction; "" for none
	PreviewEnv    map[string]*string // nil removes a variable
	Guard         *bool
	ReadOnly      *bool
}

// Validate checks every field and returns one error for all that are invalid.
func (c ProjectChange) Validate() error {
	var fields []FieldError
	if p := c.PreviewParent; p != nil && *p != "" && !validParent(*p) {
		fields = append(fields, FieldError{"/preview_parent", CodeParentNotFound, "want the id of a version of the project, or @production"})
	}
	set := map[string]string{}
	for k, v := range c.PreviewEnv {
		if v != nil {
			set[k] = *v
		}
	}
	return Invalid(append(fields, CheckEnv(set, "/preview_env")...))
}
