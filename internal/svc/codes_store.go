package svc

// The codes of findings of garbage collection and audits in the object store.
const (
	CodeStoreUnavailable = "store_unavailable"
	CodeGCFailed         = "gc_failed"
	CodeAuditFailed      = "audit_failed"
	CodeFileMissing      = "file_missing"
	CodeFileSize         = "file_size"
	CodeLogHole          = "log_hole"
	CodeLogShort         = "log_short"
	CodeHistoryHole      = "history_hole"
	CodeNotRestorable    = "not_restorable"
	CodeMarkedNeeded     = "marked_needed"
	CodeManifestMissing  = "manifest_missing"
	CodeRecordDestroyed  = "record_destroyed"
	CodeRecordUnreadable = "record_unreadable"
	CodeVersionUnknown   = "version_unknown"
	CodeOverdue          = "overdue"
	CodeOwnerChanged     = "owner_changed"
)

//nolint:gochecknoglobals // a constant table
var storeCodes = []CodeInfo{
	{CodeStoreUnavailable, []Kind{Unavailable}, "The object store cannot be listed.", "Read GET /v1/health/deep."},
	{CodeGCFailed, []Kind{Unavailable}, "The collection of a project did not complete; the next one retries.", "Read the service's log."},
	{CodeAuditFailed, nil, "The project could not be audited.", "Read the service's log."},
	{CodeFileMissing, nil, "A manifest, or the record of an archived version, names an object that does not exist.", "Restore the object from a backup of the bucket."},
	{CodeFileSize, nil, "An object does not have the size that it must have.", "Restore the object from a backup of the bucket."},
	{CodeLogHole, nil, "Transactions are missing in the middle of a log.", "Restore the missing objects from a backup of the bucket."},
	{CodeLogShort, nil, "Transactions are missing at the end of a log that was verified.", "Restore the missing objects from a backup of the bucket."},
	{CodeHistoryHole, nil, "Objects are missing in the middle of the history of a database: points of that time cannot be restored, newer ones can.", "Restore the missing objects from a backup of the bucket."},
	{CodeNotRestorable, nil, "No set of objects restores the newest transaction.", "Restore the missing objects from a backup of the bucket."},
	{CodeMarkedNeeded, nil, "The data can be restored only with objects that are marked for deletion.", "Read the service's log, and report a bug."},
	{CodeManifestMissing, nil, "A fork has no manifest, so what it inherited is unknown.", "Restore the manifest from a backup of the bucket."},
	{CodeRecordDestroyed, nil, "The object store records the version as destroyed, and the registry does not.", "Use the registry and the bucket of the same backup."},
	{CodeRecordUnreadable, nil, "A record or manifest cannot be read.", "Read the service's log; restore the object from a backup of the bucket."},
	{CodeVersionUnknown, nil, "The bucket holds data of a version that the registry does not know.", "Use the registry and the bucket of the same backup, or delete the data."},
	{CodeOverdue, nil, "No version needs the object, and it should have been deleted by now.", "Check that collection runs, and read the service's log."},
	{CodeOwnerChanged, nil, "The owner of the data changed during the collection; the next one retries.", "Ignore it."},
}
