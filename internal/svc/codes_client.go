package svc

// The codes of the command line; the service never returns them.
const (
	CodeUsage              = "usage"
	CodeNoToken            = "no_token"
	CodeUnreachable        = "unreachable"
	CodeFailed             = "failed"
	CodeEventFailed        = "event_failed"
	CodeConfigNotFound     = "config_not_found"
	CodeConfigInvalid      = "config_invalid"
	CodeConfigUnknownKey   = "config_unknown_key"
	CodeConfigUnsupported  = "config_unsupported"
	CodeConfigEnvUnknown   = "config_env_unknown"
	CodeSeedInvalid        = "seed_invalid"
	CodeProjectUnnamed     = "project_unnamed"
	CodeEntryMissing       = "entry_missing"
	CodeBuildFailed        = "build_failed"
	CodeBuildCommandFailed = "build_command_failed"
	CodeDevRunning         = "dev_running"
)

//nolint:gochecknoglobals // a constant table
var clientCodes = []CodeInfo{
	{CodeUsage, nil, "The command line is invalid.", "Read the help of the command."},
	{CodeNoToken, nil, "The command needs a token, and none is set.", "Set the setting that the error names."},
	{CodeUnreachable, nil, "The service does not answer.", "Check the address and that the service runs."},
	{CodeFailed, nil, "The command failed for a reason without a code.", "Read the message."},
	{CodeEventFailed, []Kind{Unprocessable}, "The worker did not finish the event.", "Read the exception and the lines that the command printed."},
	{CodeConfigNotFound, []Kind{Unprocessable}, "The project file cannot be found.", "Run the command in the worker's directory, or name one."},
	{CodeConfigInvalid, []Kind{Unprocessable}, "The project file is invalid.", "Correct the line that the error names."},
	{CodeConfigUnknownKey, []Kind{Unprocessable}, "The project file has an unknown key.", "Correct the key, or remove it."},
	{CodeConfigUnsupported, []Kind{Unprocessable}, "The project file uses a feature that the service does not support.", "Remove the feature."},
	{CodeConfigEnvUnknown, []Kind{Unprocessable}, "The project file does not define the environment.", "Use an environment that the error lists."},
	{CodeSeedInvalid, []Kind{Unprocessable}, "A seed file or its name is invalid.", "Correct the file that the error names."},
	{CodeProjectUnnamed, []Kind{Unprocessable}, "The project file has no name.", "Add a name, or use --project."},
	{CodeEntryMissing, []Kind{Unprocessable}, "The entry module that main names does not exist.", "Correct main, or run the build of the project first."},
	{CodeBuildFailed, []Kind{Unprocessable}, "The worker does not build.", "Correct the code that the error names."},
	{CodeBuildCommandFailed, []Kind{Unprocessable}, "The build command of the project failed.", "Read its output."},
	{CodeDevRunning, []Kind{Conflict}, "Watch mode runs in the directory already.", "Use the running one, or stop it first."},
}
