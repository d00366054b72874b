package svc

import (
	"strings"
	"time"
	"unicode"
)

// AuditRecord is one change that a client of the API made or attempted.
type AuditRecord struct {
	ID        int64 // position; set by the registry
	Time      time.Time
	Actor     AuditActor
	Action    string // operation id of the API, such as "promoteVersion"
	Project   string // "" if the change is about no project
	Version   string // "" if the change is about no version
	Status    int    // HTTP status of the response
	Before    map[string]any
	After     map[string]any // the fields that changed, in both; no secret
	Reason    string         // header Svc-Reason, or the reason of a promote
	RequestID string
}

// AuditActor says who made a change, as far as the service knows.
type AuditActor struct {
	Role        string // of the token: "admin" or "deploy"; "upload" for an upload address
	Token       string // name of the token
	Fingerprint string // first 8 hex digits of the token's SHA-256
	Name        string // header Svc-Actor, which the client chooses; "" without one
	Client      string // address of the client
}

// AuditFilter selects records. Zero fields select all.
type AuditFilter struct {
	Since   time.Time
	Project string
	Version string
	Action  string
}

// maxAuditText is the maximum length of a text that a client chooses, in bytes.
const maxAuditText = 256

// AuditText makes a text of a client fit for a record: one line, at most 256 bytes.
func AuditText(s string) string {
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, " ")))
	for len(s) > maxAuditText {
		r := []rune(s)
		s = string(r[:len(r)-1])
	}
	return s
}
