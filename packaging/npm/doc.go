// Npm writes the npm packages of a release, from the programs that goreleaser has built: for svcctl and for
// @svcctl/client one package that has the command, and one for each platform that has the program.
// The same programs give the same bytes. npm publish takes the files.
package main
