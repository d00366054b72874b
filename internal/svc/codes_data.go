package svc

// The codes of the data of versions.
const (
	CodeBindingNotFound   = "binding_not_found"
	CodeBindingRequired   = "binding_required"
	CodeDatabaseBusy      = "database_busy"
	CodeInterrupted       = "interrupted"
	CodeSQLError          = "sql_error"
	CodeTableNotFound     = "table_not_found"
	CodeInvalidOrderBy    = "invalid_order_by"
	CodeInvalidDir        = "invalid_dir"
	CodeKeyNotFound       = "key_not_found"
	CodeInvalidKey        = "invalid_key"
	CodeInvalidMetadata   = "invalid_metadata"
	CodeValueTooLarge     = "value_too_large"
	CodeObjectNotFound    = "object_not_found"
	CodeQueueNotFound     = "queue_not_found"
	CodeNoDeadLetterQueue = "no_dead_letter_queue"
	CodeQueueMessages     = "queue_messages_exceeded"
	CodeObjectTooLarge    = "object_too_large"
	CodeDataUnavailable   = "data_unavailable"
	CodeDataInUse         = "data_in_use"
	CodeDataFenced        = "data_fenced"
	CodeDataBroken        = "data_broken"
	CodeDataBehind        = "data_behind"
	CodeDataUnconfirmed   = "data_unconfirmed"
	CodeDiskFailed        = "disk_failed"
	CodeVersionDiskFull   = "version_disk_full"
	CodeNotDurable        = "not_durable"
	CodeBlobNotStored     = "blob_not_stored"
	CodeTooManyLarge      = "too_many_large_requests"
	CodeEmailNotFound     = "email_not_found"
	CodeExportIncomplete  = "export_incomplete"
	CodeDiffTooLarge      = "diff_too_large"
	CodeInvalidMoment     = "invalid_moment"
	CodeHistoryOff        = "history_off"
	CodeHistoryMissing    = "history_missing"

	CodeWorkflowNotFound = "workflow_not_found"
	CodeInstanceNotFound = "instance_not_found"
	CodeInstanceExists   = "instance_exists"
	CodeInstanceState    = "instance_state"
)

//nolint:gochecknoglobals // a constant table
var dataCodes = []CodeInfo{
	{CodeBindingNotFound, []Kind{NotFound}, "The version has no such binding.", "Use a binding that the hint lists."},
	{CodeInvalidMoment, []Kind{Unprocessable}, "The moment is in the future, or no version is named whose data it is of.", "Name the parent and a moment of its past."},
	{CodeHistoryOff, []Kind{Unprocessable}, "The server, or production's project file, keeps no history.", "Set SVC_HISTORY, and svcctl.history of the project file."},
	{CodeHistoryMissing, []Kind{Unprocessable}, "No point of the version's data is kept at or before that moment.", "Choose a later moment, or the version that this one was forked from."},
	{CodeBindingRequired, []Kind{BadRequest}, "The version has several bindings of this kind.", "Name one of those that the hint lists."},
	{CodeDatabaseBusy, []Kind{Unavailable}, "Other requests to inspect the database take too long.", "Try again in a moment."},
	{CodeWorkflowNotFound, []Kind{NotFound}, "The version has no such workflow.", "Use a workflow that the hint lists."},
	{CodeInstanceNotFound, []Kind{NotFound}, "The workflow has no such instance, or its retention is over.", "List the instances: `svcctl workflows instances`."},
	{CodeInstanceExists, []Kind{Conflict}, "The workflow has an instance with this id.", "Use another id, or none."},
	{CodeInstanceState, []Kind{Conflict}, "The instance has a state in which this is not possible.", "Look at the instance: `svcctl workflows describe`."},
	{CodeEmailNotFound, []Kind{NotFound}, "The outbox has no such message, or newer ones replaced it.", "List the messages: `svcctl email list`."},
	{CodeInterrupted, []Kind{Unavailable}, "The operation was interrupted before it ended.", "Run it again."},
	{CodeSQLError, []Kind{Unprocessable}, "SQLite refused the statement.", "Correct the statement."},
	{CodeTableNotFound, []Kind{NotFound}, "The database has no such table.", "Check the name of the table."},
	{CodeInvalidOrderBy, []Kind{BadRequest}, "The table has no such column to order by.", "Use a column that the hint lists."},
	{CodeInvalidDir, []Kind{BadRequest}, "The parameter dir is neither asc nor desc.", "Use asc or desc."},
	{CodeKeyNotFound, []Kind{NotFound}, "The namespace has no such key.", "Check the key."},
	{CodeInvalidKey, []Kind{BadRequest}, "The key is empty, too long or otherwise not allowed.", "Correct the key."},
	{CodeInvalidMetadata, []Kind{BadRequest}, "The metadata is malformed or too large.", "Correct the metadata."},
	{CodeValueTooLarge, []Kind{TooLarge}, "The value exceeds the size limit.", "Store a smaller value."},
	{CodeObjectNotFound, []Kind{NotFound}, "The bucket has no such object.", "Check the key of the object."},
	{CodeQueueNotFound, []Kind{NotFound}, "The version has no such queue.", "Use a queue that the hint lists."},
	{CodeNoDeadLetterQueue, []Kind{Unprocessable}, "The consumer of the queue has no dead letter queue.", "Name the queue to take dead messages from."},
	{CodeQueueMessages, []Kind{Unprocessable}, "The queue has as many messages as the server allows (SVC_MAX_QUEUE_MESSAGES).", "Purge the queue, or raise the setting."},
	{CodeObjectTooLarge, []Kind{TooLarge}, "The object exceeds the size limit.", "Store a smaller object."},
	{CodeDataUnavailable, []Kind{Unavailable}, "The data of the version cannot be opened or archived: the object store or the disk fails.", "Read GET /v1/health/deep; the service retries."},
	{CodeDataInUse, []Kind{Unavailable}, "Another process still reads or holds the version's data.", "Try again in a moment."},
	{CodeDataFenced, []Kind{Unavailable}, "Ownership of the data was revoked: another process has claimed it.", "Let only one service use a runtime bucket."},
	{CodeDataBroken, []Kind{Internal}, "The version's data in the object store is damaged.", "Read the log of the worker host; restore the object that it names from a backup."},
	{CodeDataBehind, []Kind{Unavailable}, "The object store is behind with writes; no more are accepted until it catches up.", "Check the object store."},
	{CodeDataUnconfirmed, []Kind{Unavailable}, "The process was suspended, or in sync mode cut off, and the object store does not confirm that it still owns the data.", "Try again in a moment."},
	{CodeDiskFailed, []Kind{Unavailable}, "The disk under the version's data fails.", "Check the server's disk."},
	{CodeVersionDiskFull, []Kind{Unavailable}, "The version uses all of its disk space (SVC_VERSION_DISK_MB).", "Delete data of the version, or raise the setting."},
	{CodeNotDurable, []Kind{Unavailable}, "The object store has not confirmed the write; it may or may not be stored.", "Read the data, and write again if it is missing."},
	{CodeTooManyLarge, []Kind{Unavailable}, "The worker has several large answers of its bindings open, and does not read them.", "Read each answer before you send the next request."},
	{CodeDiffTooLarge, []Kind{Conflict}, "The two versions share too little of their stored data, or too many rows differ, for one diff.", "Read everything with full (--full), name one table (--table), or leave out the rows."},
	{CodeExportIncomplete, []Kind{Unavailable}, "The export of data ended before it was complete.", "Start again; what was received is not all."},
	{CodeBlobNotStored, []Kind{Unavailable}, "The object store did not accept the body of an object.", "Try again; check the object store."},
}
