// Package tokens reads the file of named tokens of the API (SVC_TOKENS_FILE) and reads
// it again when it changes, so that tokens are rotated without a restart.
//
// Package daemon hands it to httpapi, which asks for the role of each token.
package tokens
