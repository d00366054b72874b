package volume

import "context"

// ofWorker is the key of a context's origin.
type ofWorker struct{}

// ByWorker returns a context whose writes are those of the worker's code. While the project of the
// version is read-only they are refused, and all others are not.
func ByWorker(ctx context.Context) context.Context { return context.WithValue(ctx, ofWorker{}, true) }

// ByPlatform returns a context whose writes are not those of the worker's code, although a call of
// the worker caused them, such as the record that an event has ended.
func ByPlatform(ctx context.Context) context.Context {
	return context.WithValue(ctx, ofWorker{}, false)
}

// IsByWorker reports whether writes with ctx are those of the worker's code.
func IsByWorker(ctx context.Context) bool {
	by, _ := ctx.Value(ofWorker{}).(bool)
	return by
}
