package svc

// The codes of the command line; the service never returns them.
const (
	CodeUsage              = "usage"
	CodeForeignCommand     = "foreign_command"
	CodeNoToken            = "no_token"
	CodeUnreachable        = "unreachable"
	CodeWrongServer        = "wrong_server"
	CodeCertificateUnknown = "certificate_unknown"
	CodeContextNotFound    = "context_not_found"
	CodeFailed             = "failed"
	CodeEventFailed        = "event_failed"
	CodeConfigNotFound     = "config_not_found"
	CodeConfigInvalid      = "config_invalid"
	CodeConfigUnsupported  = "config_unsupported"
	CodeConfigEnvUnknown   = "config_env_unknown"
	CodeConfigNotEvaluated = "config_not_evaluated"
	CodeConfigNotBuilt     = "config_not_built"
	CodeSecretMissing      = "secret_missing"
	CodeSeedInvalid        = "seed_invalid"
	CodeProjectUnnamed     = "project_unnamed"
	CodeEntryMissing       = "entry_missing"
	CodeAssetsMissing      = "assets_missing"
	CodeAssetsInvalid      = "assets_invalid"
	CodeBuildFailed        = "build_failed"
	CodeBuildCommandFailed = "build_command_failed"
	CodeDevRunning         = "dev_running"
	CodeFileExists         = "file_exists"
	CodeBrowserMissing     = "browser_missing"
	CodeVarsInvalid        = "vars_invalid"
)

//nolint:gochecknoglobals // a constant table
var clientCodes = []CodeInfo{
	{CodeUsage, nil, "The command line is invalid.", "Read the help of the command."},
	{CodeForeignCommand, nil, "The command line is one of another tool, such as wrangler.", "Use the command that the error names; next has it for programs."},
	{CodeNoToken, nil, "The command needs a token, and none is set.", "Set the setting that the error names."},
	{CodeUnreachable, nil, "The service does not answer.", "Check the address and that the service runs."},
	{CodeWrongServer, nil, "The address is not that of the API, or its scheme is wrong.", "Correct the address as the error says."},
	{CodeCertificateUnknown, nil, "The certificate of the server cannot be verified.", "Name the certificate authority as the error says, or correct the address."},
	{CodeContextNotFound, []Kind{NotFound}, "No context has the name.", "Log in with svcctl login, or use a context that svcctl context list names."},
	{CodeFailed, nil, "The command failed for a reason without a code.", "Read the message."},
	{CodeEventFailed, []Kind{Unprocessable}, "The worker did not finish the event.", "Read the exception and the lines that the command printed."},
	{CodeConfigNotFound, []Kind{Unprocessable}, "The project file cannot be found.", "Run the command in the worker's directory, or name one."},
	{CodeConfigInvalid, []Kind{Unprocessable}, "The project file is invalid.", "Correct the line that the error names."},
	{CodeConfigUnsupported, []Kind{Unprocessable}, "The project file uses a feature that the service does not support.", "Remove the feature."},
	{CodeConfigEnvUnknown, []Kind{Unprocessable}, "The project file does not define the environment.", "Use an environment that the error lists."},
	{CodeConfigNotEvaluated, []Kind{Unprocessable}, "The project file is a program, and there is no workerd to evaluate it.", "Run svcctl runtime install, or the build of the project."},
	{CodeConfigNotBuilt, []Kind{Unprocessable}, "The build of the project has not written what is deployed.", "Run the command that the hint names."},
	{CodeSecretMissing, []Kind{Unprocessable}, "The project file requires a secret that the deploy does not set.", "Set it with --secrets-file or --var."},
	{CodeSeedInvalid, []Kind{Unprocessable}, "A seed file or its name is invalid.", "Correct the file that the error names."},
	{CodeProjectUnnamed, []Kind{Unprocessable}, "The project file has no name.", "Add a name, or use --project."},
	{CodeEntryMissing, []Kind{Unprocessable}, "The entry module that main names does not exist.", "Correct main, or run the build of the project first."},
	{CodeAssetsMissing, []Kind{Unprocessable}, "The directory of static files does not exist.", "Run the build of the project first, or correct assets.directory."},
	{CodeAssetsInvalid, []Kind{Unprocessable}, "A file among the static files must not be public.", "Name it in .assetsignore, or move it away."},
	{CodeBuildFailed, []Kind{Unprocessable}, "The worker does not build.", "Correct the code that the error names."},
	{CodeBuildCommandFailed, []Kind{Unprocessable}, "The build command of the project failed.", "Read its output."},
	{CodeVarsInvalid, []Kind{Unprocessable}, "A file of variables cannot be read.", "Make the file that the error names readable."},
	{CodeBrowserMissing, []Kind{Unprocessable}, "No program was found that opens a URL.", "Open the address by hand, or set BROWSER."},
	{CodeFileExists, []Kind{Conflict}, "A file that the command would write exists already.", "Name another directory, or move the file away."},
	{CodeDevRunning, []Kind{Conflict}, "Watch mode runs in the directory already.", "Use the running one, or stop it first."},
}
