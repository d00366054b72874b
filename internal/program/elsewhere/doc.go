// Package elsewhere stands in for the server's code in the light program: it becomes the whole program, which is
// named by SVCCTL_FULL or installed as ../lib/svcctl/svcctl beside this one. It downloads nothing.
package elsewhere
