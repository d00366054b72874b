package svc

// The codes of invalid, missing or conflicting projects and versions.
const (
	CodeInvalidID           = "invalid_id"
	CodeIDReserved          = "id_reserved"
	CodeHostTooLong         = "host_too_long"
	CodeInvalidGitRemote    = "invalid_git_remote"
	CodeInvalidLabel        = "invalid_label"
	CodeInvalidEvents       = "invalid_events"
	CodeInvalidDigest       = "invalid_digest"
	CodeEnvTooManyKeys      = "env_too_many_keys"
	CodeEnvPlatformKey      = "env_platform_key"
	CodeEnvReservedKey      = "env_reserved_key"
	CodeEnvInvalidKey       = "env_invalid_key"
	CodeEnvValueTooLarge    = "env_value_too_large"
	CodeEnvShadowsBinding   = "env_shadows_binding"
	CodeEnvRestartFailed    = "env_restart_failed"
	CodeProjectExists       = "project_exists"
	CodeProjectOfOther      = "project_of_other_worker"
	CodeProjectNotFound     = "project_not_found"
	CodeVersionExists       = "version_exists"
	CodeVersionNotFound     = "version_not_found"
	CodeVersionNotReady     = "version_not_ready"
	CodeVersionArchived     = "version_archived"
	CodeVersionFailed       = "version_failed"
	CodeVersionDestroyed    = "version_destroyed"
	CodeVersionNotDestroyed = "version_not_destroyed"
	CodeVersionIsProduction = "version_is_production"
	CodeVersionPinned       = "version_pinned"
	CodeInvalidTransition   = "invalid_transition"
	CodeInvalidPreview      = "invalid_preview"
	CodePreviewNameTaken    = "preview_name_taken"
	CodePreviewNotFound     = "preview_not_found"
)

//nolint:gochecknoglobals // a constant table
var versionCodes = []CodeInfo{
	{CodeInvalidID, []Kind{Unprocessable}, "The id does not follow the rules for ids.", "Choose an id that follows the rule in the error."},
	{CodeIDReserved, []Kind{Unprocessable}, "The platform reserves this project id.", "Choose another project id."},
	{CodeHostTooLong, []Kind{Unprocessable}, "The host name of the version would be too long for DNS.", "Choose shorter ids."},
	{CodeInvalidGitRemote, []Kind{Unprocessable}, "The git_remote is too long or holds control characters.", "Correct git_remote."},
	{CodeInvalidEvents, []Kind{Unprocessable}, "events is neither on nor off.", "Correct the field, or omit it for on."},
	{CodeInvalidLabel, []Kind{Unprocessable}, "git_ref or git_sha is too long or holds control characters.", "Correct the field that errors[].pointer names."},
	{CodeInvalidDigest, []Kind{Unprocessable}, "The artifact_digest is not a SHA-256 digest.", "Write it as sha256: and 64 lower-case hex digits."},
	{CodeEnvTooManyKeys, []Kind{Unprocessable}, "The environment has more variables than a version may have.", "Remove variables."},
	{CodeEnvPlatformKey, []Kind{Unprocessable}, "The platform sets this variable.", "Choose another name."},
	{CodeEnvReservedKey, []Kind{Unprocessable}, "Names that begin with SVC_ or RUNTIME_ are reserved.", "Choose another name."},
	{CodeEnvInvalidKey, []Kind{Unprocessable}, "The name of a variable has characters that are not allowed.", "Choose a name of letters, digits and underscores."},
	{CodeEnvValueTooLarge, []Kind{Unprocessable}, "The value of a variable exceeds the limit.", "Shorten the value."},
	{CodeEnvShadowsBinding, []Kind{Unprocessable}, "A variable has the name of a binding of the bundle.", "Rename the variable or the binding."},
	{CodeEnvRestartFailed, []Kind{Internal}, "The worker did not start with the new variables; it runs with the old ones.", "Read the error, correct the variables, and set them again."},
	{CodeProjectExists, []Kind{Conflict}, "A project with this id has another git_remote.", "Choose another id, or send the git_remote that the project has."},
	{CodeProjectOfOther, []Kind{Conflict}, "The project was made from a worker with another name, which has the same project id.", "Rename one of the two workers, or name a project with --project."},
	{CodeProjectNotFound, []Kind{NotFound}, "The service has no project with this id.", "Check the id, or create the project."},
	{CodeVersionExists, []Kind{Conflict}, "A version of the project has or had this id; ids are never used twice.", "Choose another id, or send none."},
	{CodeVersionNotFound, []Kind{NotFound}, "The project has no version with this id.", "Check the ids of project and version."},
	{CodeVersionNotReady, []Kind{Conflict, Unavailable}, "The status of the version does not allow the operation.", "Wait until the version is ready, or wake it if it is archived."},
	{CodeVersionArchived, []Kind{Conflict, Unavailable}, "The version is archived; it does not serve and its data is not open.", "Wake the version."},
	{CodeVersionFailed, []Kind{Conflict, Unavailable}, "The deploy of the version failed.", "Read the error of the version, and deploy a new version."},
	{CodeVersionDestroyed, []Kind{Gone, NotFound}, "The version was destroyed, and its data is deleted.", "Create another version."},
	{CodeVersionNotDestroyed, []Kind{Conflict}, "The version cannot be purged because it is not destroyed.", "Destroy the version first."},
	{CodeVersionIsProduction, []Kind{Conflict}, "The production version can be neither archived nor destroyed.", "Promote another version first."},
	{CodeInvalidPreview, []Kind{Unprocessable}, "The fields for a preview name contradict each other.", "Correct the field that errors[].pointer names."},
	{CodePreviewNameTaken, []Kind{Conflict, Unprocessable}, "A preview name and a version of the project would have the same host name.", "Choose another preview name, or another id."},
	{CodePreviewNotFound, []Kind{NotFound}, "The project has no preview with this name.", "List the previews of the project."},
	{CodeVersionPinned, []Kind{Conflict}, "Idle archiving leaves out a version that has a pin.", "Remove the pin, or archive the version by hand."},
	{CodeInvalidTransition, []Kind{Conflict}, "The state machine has no such transition from the status of the version.", "Read the version again."},
}
