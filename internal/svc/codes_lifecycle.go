package svc

// The codes of forks, archive and wake, and promotions.
const (
	CodeParentNotFound     = "parent_not_found"
	CodeParentDestroyed    = "parent_destroyed"
	CodeParentNotReady     = "parent_not_ready"
	CodeParentBusy         = "parent_busy"
	CodeForkOfProduction   = "fork_of_production"
	CodeForkMismatch       = "fork_mismatch"
	CodeBranchExists       = "branch_exists"
	CodeBranchNotStored    = "branch_not_stored"
	CodeInvalidScrub       = "invalid_scrub"
	CodeScrubMissing       = "scrub_missing"
	CodeScrubFailed        = "scrub_failed"
	CodeArchiveIncomplete  = "archive_incomplete"
	CodeArchiveUnverified  = "archive_unverified"
	CodeWakeFailed         = "wake_failed"
	CodePromoteInProgress  = "promote_in_progress"
	CodePromotionNotFound  = "promotion_not_found"
	CodePromotionFinished  = "promotion_finished"
	CodePromoteFailed      = "promote_failed"
	CodeProductionMoved    = "production_moved"
	CodePointerMoved       = "pointer_moved"
	CodePointerUnavailable = "pointer_unavailable"
	CodeShuttingDown       = "shutting_down"
	CodeLeaseLost          = "lease_lost"
	CodeInvalidRelease     = "invalid_release"
	CodeReleaseBusy        = "release_busy"
	CodeReleaseTooSlow     = "release_too_slow"
	CodeReleaseInterrupted = "release_interrupted"
	CodeReleaseCheck       = "release_check_failed"
	CodeReleaseInstances   = "release_leaves_instances"
	CodeVersionReleased    = "version_released"
	CodeSchemaMoved        = "schema_moved"
	CodePromoteLeaves      = "promote_leaves_writes"
	CodeProjectReadOnly    = "project_read_only"
	CodeNoProduction       = "no_production"
)

//nolint:gochecknoglobals // a constant table
var lifecycleCodes = []CodeInfo{
	{CodeParentNotFound, []Kind{Unprocessable}, "The parent is not a version of the same project.", "Name a version of the project, or none for a root version."},
	{CodeParentDestroyed, []Kind{Unprocessable}, "The parent was destroyed, and its data with it.", "Name another parent, or none for a root version."},
	{CodeParentNotReady, []Kind{Unprocessable}, "The parent has no data that a child could begin with.", "Wait until the parent is ready, or name another."},
	{CodeParentBusy, []Kind{Unavailable}, "A long write in the parent leaves no position at which to cut.", "Wait until the import or query ends, and deploy again."},
	{CodeForkOfProduction, []Kind{Unprocessable}, "A version of a pull request must not begin with the data of production.", "Name a pinned staging version as the parent."},
	{CodeForkMismatch, []Kind{Conflict}, "The version was already forked at another position.", "Create a new version."},
	{CodeBranchNotStored, []Kind{Unavailable}, "The object store did not store the branch record of a fork.", "Read the daemon's log and GET /v1/health/deep; then deploy again."},
	{CodeBranchExists, []Kind{Conflict}, "The version already has data from another fork.", "Deploy a new version."},
	{CodeInvalidScrub, []Kind{Unprocessable}, "The scrub SQL is malformed.", "Correct the file of SVC_SCRUB_SQL."},
	{CodeScrubMissing, []Kind{Unprocessable}, "The scrub SQL has nothing for a database that must be scrubbed.", "Add the section that the hint names to the file of SVC_SCRUB_SQL."},
	{CodeScrubFailed, []Kind{Unprocessable}, "The scrub SQL failed; no part of it was applied.", "Correct the file of SVC_SCRUB_SQL, restart the server, and create a new version."},
	{CodeArchiveIncomplete, []Kind{Unavailable}, "The version is archived, and its data is still only on the server's disk.", "Archive it again, or wait: the service retries every few minutes."},
	{CodeArchiveUnverified, []Kind{Internal}, "The object store does not return what was stored; the local files are kept.", "Check the object store."},
	{CodeWakeFailed, []Kind{Unavailable}, "The archived version did not start; it is archived again.", "Read the logs of the version."},
	{CodePromoteInProgress, []Kind{Conflict}, "A promotion of the project is under way.", "Wait until it has ended."},
	{CodePromotionNotFound, []Kind{NotFound}, "The project has no promotion with this id.", "Check the id."},
	{CodePromotionFinished, []Kind{Conflict}, "The promotion has already ended.", "Read the promotion for its outcome."},
	{CodePromoteFailed, nil, "The promotion failed and was undone; printed by the command line.", "Read the error of the promotion."},
	{CodeProductionMoved, []Kind{Precondition}, "Another version became production in the meantime.", "Read the project again and retry with its current production."},
	{CodePointerMoved, []Kind{Conflict}, "The production pointer in the runtime bucket was modified concurrently.", "Let only one service use a runtime bucket."},
	{CodePointerUnavailable, []Kind{Unavailable}, "The runtime bucket did not accept the production pointer.", "Read GET /v1/health/deep, then promote again."},
	{CodeShuttingDown, []Kind{Unavailable}, "The daemon is shutting down.", "Try again in a moment."},
	{CodeInvalidRelease, []Kind{Unprocessable}, "A parameter of the release is invalid.", "Correct the field that errors[].pointer names."},
	{CodeReleaseBusy, []Kind{Unavailable}, "Requests or events of production did not end within the drain of the release; production is unchanged.", "Release again, or let them continue without writes: late_requests refuse, interrupt_events."},
	{CodeReleaseTooSlow, []Kind{Unprocessable, Unavailable}, "The release would hold, or held, the requests of production for longer than its limit; production is unchanged.", "Split the migrations, or raise the limit with max_hold_ms."},
	{CodeReleaseInterrupted, []Kind{Unavailable, Conflict}, "The release was interrupted before its commit; production is unchanged.", "Release again."},
	{CodeReleaseCheck, []Kind{Unprocessable, Unavailable}, "The new version did not pass the check of the release; production is unchanged.", "Correct the worker, or the path of svcctl.release.check."},
	{CodeReleaseInstances, []Kind{Conflict}, "The new code lacks a workflow that has unfinished instances.", "Let them end, keep the workflow, or leave them with the old version: leave_instances."},
	{CodeVersionReleased, []Kind{Unavailable}, "Another version continues with the data of this one, so the write was not done.", "Send the request again: it reaches production."},
	{CodeSchemaMoved, []Kind{Conflict}, "Migrations were applied since the earlier code ran, so it may not work on today's data.", "Go back with the data of then (restore), or force the release of the earlier code."},
	{CodePromoteLeaves, []Kind{Conflict}, "Production has writes that the version lacks; a promote would leave them behind.", "Release the version, or accept the loss with leave_writes."},
	{CodeProjectReadOnly, []Kind{Unavailable, Conflict}, "The project is read-only: the write was not done.", "Wait until the project is writable again, or change it with svcctl projects set. A change of data through the API needs force=true."},
	{CodeNoProduction, []Kind{Unprocessable, Conflict}, "The project has no production version.", "Promote a version first, or name another parent."},
	{CodeLeaseLost, []Kind{Precondition}, "The job was claimed by another worker or no longer exists.", "Ignore it: the other worker continues the job."},
}
