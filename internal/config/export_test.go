package config

// DataDirs and FindNote are how the CLI finds a daemon.
var (
	DataDirs = dataDirs
	FindNote = findNote
)
