package build

import (
	"regexp"
	"slices"
)

// token matches the names of variables with which a program deploys, runs a server, or acts for the job of a
// pipeline. A build command runs what the packages of the project bring, which needs none of them.
var token = regexp.MustCompile(`^(?:` +
	`SVC(?:CTL)?_\w*(?:TOKEN|SECRET|KEY)\w*|S3_(?:ACCESS_KEY_ID|SECRET_ACCESS_KEY)|INPUT_[\w-]*TOKEN|` +
	`GITHUB_TOKEN|GH_TOKEN|ACTIONS_(?:ID_TOKEN_REQUEST|RUNTIME|CACHE|RESULTS)_\w+|` +
	`GITLAB_TOKEN|CI_JOB_(?:TOKEN|JWT\w*)|CI_(?:DEPLOY|REGISTRY|DEPENDENCY_PROXY)_PASSWORD|` +
	`BITBUCKET_(?:TOKEN|STEP_OIDC_TOKEN)|BUILDKITE_AGENT_ACCESS_TOKEN|BUILDKITE_AGENT_JOB_API_TOKEN|JENKINS_(?:TOKEN|API_TOKEN)` +
	`)=`)

// withoutTokens is an environment without tokens.
func withoutTokens(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), token.MatchString)
}
