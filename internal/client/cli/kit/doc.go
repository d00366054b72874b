// Package kit is what every command needs: the streams and whether they are
// terminals, the client, output in the chosen format, progress, and the exit
// code of an error. It knows nothing of any command.
package kit
