// Package data is the screen of the data of a version: its databases with their tables,
// rows and SQL, its key-value namespaces, and its buckets.
package data
