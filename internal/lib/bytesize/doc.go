// Package bytesize writes numbers of bytes as people read them, in the client and in the findings of the
// server. It imports no other package of the program.
package bytesize
