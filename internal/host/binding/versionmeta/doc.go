// Package versionmeta is the binding kind "version_metadata": what version of the
// worker runs, as the object {id, tag, timestamp} that Workers code expects. It
// has no data and serves no requests.
package versionmeta
