// Package chart holds the Helm chart of svcctl as files. Helm installs them from the directory
// svcctl; package manifests renders the same files for svcctl admin manifests kubernetes.
// It has no code.
package chart
