// Package kube gets worker hosts from Kubernetes: SVC_RUNTIME=kubernetes. It uses client-go and
// the rights of one namespace, without custom resources or webhooks.
//
// A Deployment keeps spare pods, each with one svcd host, which dials the server like a machine of
// package fleet. [Pods] is the machines.Policy for them. It checks who a pod is, by the pod's own
// service account token and the keys of the cluster. It claims a spare pod for a version by a patch of its
// labels. Another patch takes the label away by which the Deployment selects it, so the Deployment makes
// another spare: soon after the version serves, or before the claim while versions need more spares than there are. It
// deletes pods that have no version any more, and extra ones that no version needs.
//
// Kubernetes notices a dead node after 44 s and more. The fleet does not wait for it: after
// SVC_HOST_SILENCE it opens the version in another pod, and the log of the data fences the old one.
//
// [Lead] makes one of several servers the one that serves, by a Lease.
//
// Concurrency: everything is safe for concurrent use.
package kube
