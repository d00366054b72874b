package svc

import (
	"strings"
	"time"
	"unicode"
)

// AuditRecord is one change that a client of the API made or attempted.
type AuditRecord struct {
	ID        int64          `json:"id"` // position; set by the registry
	Time      time.Time      `json:"time"`
	Actor     AuditActor     `json:"actor"`
	Action    string         `json:"action"`  // operation id of the API, such as "promoteVersion"
	Project   string         `json:"project"` // "" if the change is about no project
	Version   string         `json:"version"` // "" if the change is about no version
	Status    int            `json:"status"`  // HTTP status of the response
	Before    map[string]any `json:"before"`
	After     map[string]any `json:"after"`  // the fields that changed, in both; no secret
	Reason    string         `json:"reason"` // header Svc-Reason, or the reason of a promote
	RequestID string         `json:"request_id"`
}

// AuditActor says who made a change, as far as the service knows.
type AuditActor struct {
	Role        string `json:"role"`        // of the token: "admin" or "deploy"; "upload" for an upload address
	Token       string `json:"token"`       // name of the token
	Fingerprint string `json:"fingerprint"` // first 8 hex digits of the token's SHA-256
	Name        string `json:"name"`        // header Svc-Actor, which the client chooses; "" without one
	Client      string `json:"client"`      // address of the client
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
