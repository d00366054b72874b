// Package load is a small HTTP/1.1 client for measuring: it sends prepared bytes
// over connections that it keeps, reads as little of the answer as it must, and
// so leaves the processors to what is being measured. Every answer is checked; a
// window with a wrong one is an error, not a figure.
package load
