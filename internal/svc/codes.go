package svc

import (
	"cmp"
	"slices"
)

// CodeInfo describes one error code. docs/reference/errors.md is generated from
// it. A new code is a constant and a row in one of the files codes_*.go.
type CodeInfo struct {
	Code    string
	Kinds   []Kind // of errors with this code; empty for audit findings and for codes of the command line
	Meaning string // a sentence
	Remedy  string // an imperative
}

// Codes lists every error code of the program, sorted by code.
func Codes() []CodeInfo {
	all := slices.Concat(requestCodes, versionCodes, lifecycleCodes, bundleCodes, deployCodes, runtimeCodes, hostCodes, dataCodes, storeCodes, machineCodes, domainCodes, secretCodes, webhookCodes, clientCodes)
	slices.SortFunc(all, func(a, b CodeInfo) int { return cmp.Compare(a.Code, b.Code) })
	return all
}
