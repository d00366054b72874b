package main

import "context"

// times are goals: how many times as fast as each peer. 0 is no goal.
func times(overMiniflare, overNative float64) map[string]float64 {
	return map[string]float64{miniflare: overMiniflare, native: overNative}
}

// kv: the time of one KV operation inside a worker, and operations a second.
func kv(ctx context.Context, b *bench) ([]row, error) {
	return b.compareBindings(ctx, "kv", []string{miniflare, native}, []operation{
		{"one KV get of 1 KB", "/get", 20, 1, times(3, 1.67)},
		{"one KV put of 1 KB, a new value", "/put", 20, 1, times(0, 2)},
		{"KV gets, 8 connections", "/get", 20, manyConns, nil},
		{"KV puts, 8 connections", "/put", 20, manyConns, nil},
	})
}

// d1: the same for D1. Each insert is a transaction that is on disk before it is
// answered.
func d1(ctx context.Context, b *bench) ([]row, error) {
	return b.compareBindings(ctx, "d1", []string{miniflare, native}, []operation{
		{"one D1 select by key", "/select", 20, 1, times(1.8, 2.22)},
		{"one D1 insert", "/insert", 20, 1, times(1.6, 1.54)},
		{"D1 selects, 8 connections, 20 to a request", "/select", 20, manyConns, times(2.4, 3)},
		{"D1 inserts, 8 connections, 20 to a request", "/insert", 20, manyConns, times(2.4, 2.2)},
		{"D1 inserts, 8 connections, 1 to a request", "/insert", 1, manyConns, nil},
	})
}

// r2: the time of one operation on objects. workerd has no simulator of R2.
func r2(ctx context.Context, b *bench) ([]row, error) {
	return b.compareBindings(ctx, "r2", []string{miniflare}, []operation{
		{"one R2 head", "/head", 20, 1, nil},
		{"one R2 list of 20", "/list", 20, 1, nil},
		{"one R2 get of 1 KB", "/get1", 20, 1, nil},
		{"one R2 get of 64 KB", "/get64", 20, 1, nil},
		{"one R2 get of 256 KB", "/get256", 20, 1, nil},
		{"one R2 get of 8 MB, in the worker", "/big", 3, 1, times(1, 0)},
		{"one R2 put of 1 KB", "/put1", 20, 1, nil},
		{"one R2 put of 64 KB", "/put64", 20, 1, nil},
		{"one R2 put of 256 KB", "/put256", 20, 1, nil},
		{"one R2 put of 8 MB", "/store", 3, 1, nil},
		{"R2 gets of 64 KB, 8 connections", "/get64", 20, manyConns, nil},
	})
}

// responses: the time of one operation of the Cache API. workerd has no simulator of it.
func responses(ctx context.Context, b *bench) ([]row, error) {
	return b.compareBindings(ctx, "cache", []string{miniflare}, []operation{
		{"one Cache API hit of 1 KB", "/op", 20, 1, times(2, 0)},
		{"one Cache API miss", "/miss", 20, 1, nil},
		{"one Cache API put of 1 KB", "/put", 20, 1, nil},
	})
}
