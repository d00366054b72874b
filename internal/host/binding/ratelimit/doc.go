// Package ratelimit is the binding kind "rate_limit": counts of calls by key, in windows
// of 10 or 60 seconds. Counts are in the memory of the worker host: a version starts
// without any, and bindings of one namespace share them.
package ratelimit
