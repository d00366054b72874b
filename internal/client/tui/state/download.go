package state

// Download is a value of KV, or an object of R2, for a new file.
type Download struct {
	Project, Version string
	Binding, Key     string
	Object           bool   // of R2
	Path             string // of the file
}

// Downloaded is the end of a download.
type Downloaded struct {
	Download Download
	Bytes    int64
	Err      error
}
