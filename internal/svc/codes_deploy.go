package svc

// The codes of a deploy and the start of a version.
const (
	CodeQueueFull              = "queue_full"
	CodeStepTimeout            = "step_timeout"
	CodeTooManyAttempts        = "too_many_attempts"
	CodeVerifyFailed           = "verify_failed"
	CodeMigrationFailed        = "migration_failed"
	CodeMigrationTableMissing  = "migration_table_missing"
	CodeSeedFailed             = "seed_failed"
	CodeStartupFailed          = "startup_failed"
	CodeStartupTimeout         = "startup_timeout"
	CodeStartupCPULimit        = "startup_cpu_limit"
	CodeStartupException       = "startup_exception"
	CodeSyntaxError            = "syntax_error"
	CodeModuleMissing          = "module_missing"
	CodeOutOfMemory            = "out_of_memory"
	CodeMemoryLimitTooHigh     = "memory_limit_too_high"
	CodeCompatDateInvalid      = "compat_date_invalid"
	CodeCompatDateFuture       = "compat_date_future"
	CodeCompatFlagUnknown      = "compat_flag_unknown"
	CodeCompatFlagUnsupported  = "compat_flag_unsupported"
	CodeCompatFlagExperimental = "compat_flag_experimental"
	CodeCompatFlagConflict     = "compat_flag_conflict"
	CodeServiceNotFound        = "service_not_found"
	CodeWorkerDiffers          = "worker_differs"
	CodeObjectClassDiffers     = "object_class_differs"
)

//nolint:gochecknoglobals // a constant table
var deployCodes = []CodeInfo{
	{CodeQueueFull, []Kind{Unavailable}, "The deploy queue is full.", "Try again after Retry-After."},
	{CodeStepTimeout, []Kind{Unavailable}, "A step of a deploy, promotion or wake exceeded its time limit.", "Try again; read the daemon's log if it continues."},
	{CodeTooManyAttempts, []Kind{Internal}, "The deploy was started several times and never passed this step.", "Read the daemon's log, and create a new version."},
	{CodeVerifyFailed, []Kind{Unavailable}, "The probe through the gateway failed.", "Correct SVC_GATEWAY_VERIFY_URL: it must lead to this gateway and keep Host and headers."},
	{CodeMigrationFailed, []Kind{Unprocessable}, "A migration failed; no part of its file was applied.", "Correct the migration and deploy again."},
	{CodeMigrationTableMissing, []Kind{Unprocessable}, "A migration names a table that no migration and no seed created.", "Create the table in an earlier migration or in a seed, and deploy again."},
	{CodeSeedFailed, []Kind{Unprocessable}, "A seed file could not be imported.", "Correct the file and deploy again."},
	{CodeStartupFailed, []Kind{Unprocessable}, "workerd ended before the worker listened, and its output names no known cause.", "Read the log of the version."},
	{CodeStartupTimeout, []Kind{Unprocessable}, "The worker did not start in time: a loop or an await at the top level of a module blocks it.", "Move the code into a handler."},
	{CodeStartupCPULimit, []Kind{Unprocessable}, "The worker used the CPU time of a start and did not start: a loop at the top level of a module blocks it.", "Move the code into a handler."},
	{CodeStartupException, []Kind{Unprocessable}, "The worker threw an exception while it started.", "Correct the code that the error names."},
	{CodeSyntaxError, []Kind{Unprocessable}, "A module has a syntax error.", "Correct the module."},
	{CodeModuleMissing, []Kind{Unprocessable}, "A module imports one that the bundle does not hold.", "Bundle the module, or correct the import."},
	{CodeMemoryLimitTooHigh, []Kind{Unprocessable}, "The project sets limits.memory_mb higher than the server allows.", "Lower it, or have the operator raise SVC_WORKER_MEMORY_MAX_MB."},
	{CodeOutOfMemory, []Kind{Unprocessable, Unavailable}, "The worker ran out of memory.", "Reduce the memory that the worker uses."},
	{CodeCompatDateInvalid, []Kind{Unprocessable}, "The compatibility date is not a date.", "Write it as YYYY-MM-DD."},
	{CodeCompatDateFuture, []Kind{Unprocessable}, "The compatibility date is newer than this server supports.", "Use the date that the hint names, or an earlier one."},
	{CodeCompatFlagUnknown, []Kind{Unprocessable}, "workerd does not know the compatibility flag.", "Correct the flag, or remove it."},
	{CodeCompatFlagUnsupported, []Kind{Unprocessable}, "The service does not support the compatibility flag.", "Remove the flag."},
	{CodeCompatFlagExperimental, []Kind{Unprocessable}, "The compatibility flag is experimental.", "Remove the flag."},
	{CodeCompatFlagConflict, []Kind{Unprocessable}, "Two compatibility flags exclude each other.", "Keep one of them."},
	{CodeServiceNotFound, []Kind{Unprocessable}, "The worker has a binding to a project, a version or a preview that does not exist.", "Correct the name, deploy the other project first, or use --allow-missing services."},
	{CodeObjectClassDiffers, []Kind{Unprocessable}, "The section exports would leave the objects of a class of the parent out of reach.", "Correct exports as the hint says."},
	{CodeWorkerDiffers, []Kind{Unprocessable}, "A version that begins asleep differs from its parent in more than static files, or the parent does not serve.", "Create the version without asleep."},
}
