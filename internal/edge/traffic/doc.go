// Package traffic counts the requests of the last ten minutes, for people who watch a
// server: per version, in samples of five seconds with a histogram of durations. A
// version costs about 11 KB, and nothing is stored; the metrics of package obs are for
// the long run.
//
// A [Recorder] is safe for concurrent use.
package traffic
