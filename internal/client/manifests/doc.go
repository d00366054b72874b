// Package manifests renders the objects of Kubernetes that make up an installation of svcctl:
// the templates of the Helm chart (package chart), with the same values and the same schema, but
// without Helm. Templates may use only the functions in funcs.go, which Helm has, too. It also
// makes the Secrets of an installation.
//
// All functions are pure but Secrets, which reads random numbers. Errors of a person's values are
// of type *ValueError.
package manifests
