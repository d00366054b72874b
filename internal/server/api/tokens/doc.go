// Package tokens reads the file of named tokens of the API (SVC_TOKENS_FILE) and reads
// it again when it changes, so that tokens are rotated without a restart.
//
// It also checks tokens: Find and Has for httpapi, OnlyGateways for the port of gateways on other
// machines. Package daemon connects them.
package tokens
