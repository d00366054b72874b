package ui

import (
	"fmt"

	"github.com/svcctl/svcctl/pkg/api"
)

// Rate returns requests per second of a window in seconds; "-" for a window of 0.
func Rate(t api.Traffic, seconds float64) string {
	if seconds == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", float64(t.Requests)/seconds)
}

// Share returns the failed requests in percent; "-" for none.
func Share(t api.Traffic) string {
	if t.Errors == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(t.Errors)/float64(t.Requests))
}

// P95 returns the 95th percentile of response times; "-" without requests.
func P95(t api.Traffic) string {
	if t.Requests == 0 {
		return "-"
	}
	return InMillis(t.P95Ms)
}

// Sent returns the bytes per second that visitors got in a window in seconds; "-" for none.
func Sent(t api.Traffic, seconds float64) string {
	if t.Bytes == 0 || seconds == 0 {
		return "-"
	}
	return Bytes(int64(float64(t.Bytes)/seconds)) + "/s"
}

// TrafficOfVersion returns the requests of a version.
func TrafficOfVersion(m api.MetricsSummary, project, version string) api.Traffic {
	for _, t := range m.Versions {
		if t.ProjectID == project && t.VersionID == version {
			return t
		}
	}
	return api.Traffic{}
}

// TrafficOf returns the requests of a project.
func TrafficOf(m api.MetricsSummary, project string) api.Traffic {
	for _, t := range m.Projects {
		if t.ProjectID == project {
			return t
		}
	}
	return api.Traffic{}
}
