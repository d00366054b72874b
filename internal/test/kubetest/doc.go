// Package kubetest is an API server for tests: pods, events, leases and service account tokens of
// one namespace over real HTTP, with the refusals that a cluster has. It keeps a number of spare
// pods, as a Deployment does, and tells a test of each pod that begins and ends, so that the test
// can run the pod's process. A real cluster is in scripts/kube.
package kubetest
