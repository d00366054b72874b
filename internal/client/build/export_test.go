package build

// TellSize is for tests, which need not pack so much.
func (r *Result) TellSize() { r.tellSize() }
