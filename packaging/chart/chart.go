package chart

import "embed"

// Files is the directory svcctl: Chart.yaml, values.yaml, values.schema.json and templates.
//
//go:embed all:svcctl
var Files embed.FS
