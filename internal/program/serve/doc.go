// Package serve is the part of the command tree that svcctl and svcd share:
// running the control plane, provisioning workerd, and the hidden commands our
// own child processes are started with. It links no bundler and no client.
package serve
