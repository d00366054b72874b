package cli

import "github.com/spf13/cobra"

// topics are pages of help that are no commands: svcctl help exit-codes.
func topics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "environment", Short: "Variables that svcctl reads", Long: `Variables that svcctl reads. A flag wins over a variable, and a variable over a context.

  SVCCTL_SERVER        URL of the API (--server)
  SVCCTL_CONTEXT       context in place of the current one (--context)
  SVCCTL_DEPLOY_TOKEN  token that creates versions; SVC_DEPLOY_TOKEN is a fallback
  SVCCTL_ADMIN_TOKEN   token for all other calls; SVC_ADMIN_TOKEN is a fallback
  SVCCTL_OUTPUT        output format (--output)
  SVCCTL_FULL          the whole program, for the light one (svcctl-client): a path or a command
  CI                   progress as one line for each stage, also on a terminal
  NO_COLOR, CLICOLOR=0 no colors
  XDG_CONFIG_HOME      its svcctl/config.yaml holds the contexts (default ~/.config)
  SSL_CERT_FILE        certificates to trust in place of the system's; --ca-file adds some
  GITHUB_ACTIONS, GITLAB_CI, BITBUCKET_BUILD_NUMBER, BUILDKITE, JENKINS_URL
                       the job that a deploy belongs to: git ref, commit, log commands`},
		{Use: "exit-codes", Short: "Exit codes of svcctl", Long: `Exit codes of svcctl.

    0  success
    1  failure
    2  invalid command line, setting or address
    4  missing token, or a token without the permission
    5  not found
    6  conflict: the state does not allow it, or the resource was modified concurrently
    7  the version ended as failed
    8  the server is busy or does not answer: try again later
    9  the promote would leave writes of production behind; --leave-writes accepts that, svcctl release keeps them
  124  --timeout was reached; the work continues on the server
  130  interrupted; the work continues on the server

With -o json, stderr ends with a problem document whose code names the error.`},
		{Use: "output", Short: "Output formats of svcctl", Long: `Output formats of svcctl, chosen by --output or SVCCTL_OUTPUT. Data goes to stdout; progress and errors go to stderr.

  table  columns for people (default)
  wide   as table, with more columns
  json   one JSON document
  yaml   the same document as YAML
  name   the name of each thing, one a line, as other commands take it

With json and yaml an error is a problem document at the end of stderr. svcctl deploy --json-events prints one line
of JSON for each event.`},
	}
}
