package dev

import (
	"cmp"
	"errors"
	"strings"
	"syscall"

	"github.com/svcctl/svcctl/internal/client/build"
	"github.com/svcctl/svcctl/internal/client/front"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/client"
)

// problemOf is why a save is not served, with the lines of the source that it is
// about. b is nil if the build failed.
func problemOf(err error, b *build.Result) *front.Problem {
	var failed *client.VersionError
	var own *svc.Error
	switch {
	case errors.As(err, &failed):
		return failedDeploy(failed, b)
	case errors.As(err, &own):
		return ownProblem(own)
	case errors.Is(err, syscall.ENOSPC):
		return &front.Problem{Code: svc.CodeDiskFull, Title: "the disk of the worker directory is full", Detail: err.Error() + "\nfree disk space, and save again"}
	}
	return &front.Problem{Code: svc.CodeFailed, Title: "The save is not served", Detail: err.Error()}
}

// ownProblem explains an error of this program: its first line is the title.
func ownProblem(e *svc.Error) *front.Problem {
	p := &front.Problem{Code: e.Code}
	p.Title, p.Detail = firstLine(e.Detail)
	for _, f := range e.Fields {
		p.Detail += "\n" + f.Detail
	}
	if e.Hint != "" {
		p.Detail += "\n" + e.Hint
	}
	p.Detail = strings.Trim(p.Detail, "\n")
	return p
}

// firstLine lays a text of several lines out.
func firstLine(text string) (first, rest string) {
	first, rest, _ = strings.Cut(text, "\n")
	return first, rest
}

// failedDeploy explains a version that failed.
func failedDeploy(failed *client.VersionError, b *build.Result) *front.Problem {
	v := failed.Version
	code, text := v.ErrorCode, strings.TrimPrefix(v.Error, v.ErrorStep+": "+v.ErrorCode+": ")
	titles := map[string]string{
		svc.CodeStartupException: "The worker throws while it starts",
		svc.CodeMigrationFailed:  "A migration failed",
		svc.CodeSyntaxError:      "The worker has a syntax error",
	}
	p := &front.Problem{Code: code, Title: titles[code], Detail: text}
	p.Title = cmp.Or(p.Title, "The version does not start")
	if b != nil {
		p.Detail = b.Explain(p.Detail)
	}
	if out := v.ErrorOutput; out != "" {
		p.Detail += "\n\noutput of the worker:\n" + indent(out)
	}
	return p
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ")
}
