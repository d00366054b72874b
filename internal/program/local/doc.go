// Package local runs the whole server inside the process of watch mode: the same
// daemon as svcctl serve, with its data in the worker directory, ports of its own and
// settings for one developer. The worker may reach every address that the developer's
// machine reaches.
package local
