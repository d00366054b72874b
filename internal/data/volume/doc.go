// Package volume declares the data of a version for its users: SQLite databases,
// their position among versions that share history, and blobs. Package dataplane
// implements it and the binding kinds of the worker host use it, so that neither imports the
// other; volume imports sqlite/raw alone. Implementations are safe for concurrent
// use.
package volume
