// Package ci knows the environments of continuous integration: which commit a job
// builds, and how results reach the job's pages. It recognizes GitHub Actions, GitLab,
// Bitbucket, Jenkins and Buildkite by their variables; elsewhere it asks git.
//
// It reads the variables that it is given, runs git, and writes the files that the
// environment names. It prints nothing and starts no goroutines.
package ci
