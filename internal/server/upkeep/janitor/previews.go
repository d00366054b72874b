package janitor

import (
	"context"
	"time"
)

const previewsEvery = 10 * time.Minute

// Tidier archives replaced versions: preview.Service.
type Tidier interface {
	Tidy(ctx context.Context) error
}

// Previews returns the task that archives the versions that a newer version of their
// preview name has replaced, if that failed or was interrupted before.
func Previews(t Tidier) Task {
	return Task{Name: "previews", Every: previewsEvery, RunOnce: t.Tidy}
}
