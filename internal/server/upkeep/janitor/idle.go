package janitor

import (
	"context"
	"time"
)

// The interval of idle archiving is a tenth of SVC_ARCHIVE_IDLE within these limits.
const (
	leastIdleEvery = time.Second
	mostIdleEvery  = 5 * time.Minute
)

// Archiver archives idle versions: lifecycle.Service.
type Archiver interface {
	ArchiveIdle(ctx context.Context) error
}

// Idle returns the task that archives versions that are idle for after [D24].
func Idle(a Archiver, after time.Duration) Task {
	return Task{Name: "idle archive", Every: min(max(after/10, leastIdleEvery), mostIdleEvery), RunOnce: a.ArchiveIdle}
}
