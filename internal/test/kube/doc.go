// Package kube runs the program as its manifests install it, on a real Kubernetes that scripts/kube
// starts on this machine: three nodes, three gateways, two servers, an object store of its own. It
// needs root; make e2e-kube builds what it needs and runs it. Without the tag kube it is empty.
package kube
