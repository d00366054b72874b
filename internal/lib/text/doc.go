// Package text makes what others wrote fit to be shown: a worker, a pipeline, a visitor or a
// server chooses names, log lines and messages, and none of them may steer a terminal, hide a
// part of a line, or change the order in which a person reads it.
//
// It also has the small forms in which people write and read: Bytes, Duration, and Nearest for the
// word that was meant.
package text
