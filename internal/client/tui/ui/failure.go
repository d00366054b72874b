package ui

import (
	"cmp"

	"github.com/svcctl/svcctl/pkg/api"
)

// Failure is why a version failed, with places of the sources where they are known.
func Failure(v api.Version) string { return cmp.Or(v.ErrorInSources, v.Error) }

// Output is what a worker that did not start printed, with places of the sources.
func Output(v api.Version) string { return cmp.Or(v.ErrorOutputInSources, v.ErrorOutput) }

// Detail is the detail of a step: that of the failed one repeats the error of the version.
func Detail(v api.Version, text string) string {
	if text == v.Error {
		return Failure(v)
	}
	return text
}
