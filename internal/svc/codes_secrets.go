package svc

// The codes of sealed secrets.
const (
	CodeSecretsKeyMissing   = "secrets_key_missing"
	CodeSecretUnreadable    = "secret_unreadable"
	CodeSecretNotFound      = "secret_not_found"
	CodeSecretNoBefore      = "secret_no_previous"
	CodeSecretsTooMany      = "secrets_too_many"
	CodeSecretClass         = "secret_class_invalid"
	CodeSecretRestartFailed = "secret_restart_failed"
)

//nolint:gochecknoglobals // a constant table
var secretCodes = []CodeInfo{
	{CodeSecretsKeyMissing, []Kind{Conflict}, "The server has no key that seals secrets.", "Set SVC_SECRETS_KEY: svcctl admin secrets key prints a new one."},
	{CodeSecretUnreadable, []Kind{Unavailable}, "A secret of the project does not open: SVC_SECRETS_KEY lacks its key, or its bytes were changed.", "Add the key that the error names to SVC_SECRETS_KEY and send SIGHUP, or put the secret again."},
	{CodeSecretNotFound, []Kind{NotFound}, "The project has no secret with this name and class.", "Check the name and the class: svcctl secret list."},
	{CodeSecretNoBefore, []Kind{Conflict}, "The secret has no earlier value.", "Put the value."},
	{CodeSecretsTooMany, []Kind{Unprocessable}, "The project would have more secrets than a project may have.", "Delete secrets that no version uses: svcctl secret delete."},
	{CodeSecretClass, []Kind{Unprocessable}, "The class of a secret is neither release nor preview.", "Use release or preview."},
	{CodeSecretRestartFailed, []Kind{Internal}, "Production does not start with the changed secrets; it runs with the earlier ones.", "Correct the value and put it again."},
}
