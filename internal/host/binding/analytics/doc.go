// Package analytics is the binding kind "analytics_engine": data points that a worker
// writes and that people query with SQL. Each dataset is a table in a database that belongs
// to the version alone: a child begins without data points. Rows are deleted when they are
// older than the retention.
package analytics
