package svc

import (
	"crypto/sha256"
	"time"
)

// The roles of named tokens.
const (
	RoleDeploy  = "deploy"  // creates versions
	RoleAdmin   = "admin"   // everything else
	RoleGateway = "gateway" // fetches routes and sends requests, as svcd gateway
	RoleRead    = "read"    // reads records and logs, without values of variables and data
)

// Token is one named credential of the API.
type Token struct {
	Name    string
	Role    string
	Hash    [sha256.Size]byte // SHA-256 of the token
	Expires time.Time         // zero for never
}

// Expired reports whether the token is not valid any more.
func (t Token) Expired(now time.Time) bool { return !t.Expires.IsZero() && !now.Before(t.Expires) }

// TokensTrouble says that the file of named tokens cannot be read.
type TokensTrouble struct {
	File   string
	Detail string    // why
	Valid  int       // number of tokens of before that are valid
	Until  time.Time // when they end
}
