// Package program joins the commands with the server's code: it is what cmd/svcctl runs. Its folders hold that
// code: serve runs a server or a part of one, rescue works on the files of one, local is the server of watch mode.
// The light program has package elsewhere in its place.
package program
