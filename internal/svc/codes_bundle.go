package svc

// The codes of bundles and their upload.
const (
	CodeUploadInvalid      = "upload_invalid"
	CodeUploadExpired      = "upload_expired"
	CodeUploadEmpty        = "upload_empty"
	CodeUploadFailed       = "upload_failed"
	CodeAlreadyUploaded    = "already_uploaded"
	CodeArtifactMissing    = "artifact_missing"
	CodeArtifactUnreadable = "artifact_unreadable"
	CodeDigestMismatch     = "digest_mismatch"
	CodeBundleFromUnknown  = "bundle_from_unknown"
	CodeBundleTruncated    = "bundle_truncated"
	CodeBundleFormat       = "bundle_format"
	CodeBundlePath         = "bundle_path"
	CodeBundleTooLarge     = "bundle_too_large"
	CodeBundleMismatch     = "bundle_mismatch"
	CodeManifestInvalid    = "manifest_invalid"
	CodeManifestVersion    = "manifest_version"
	CodeModuleTypeUnknown  = "module_type_unknown"
	CodeInvalidBindings    = "invalid_bindings"
	CodeBindingDuplicate   = "binding_duplicate"
	CodeBindingInvalid     = "binding_invalid"
	CodeBindingUnknownKind = "binding_unknown_kind"
	CodeMigrationsInvalid  = "migrations_invalid"
	CodeSeedsInvalid       = "seeds_invalid"
	CodeAssetMissing       = "asset_missing"
	CodeAssetMismatch      = "asset_mismatch"
	CodeAssetsAnnounced    = "assets_announced"
)

//nolint:gochecknoglobals // a constant table
var bundleCodes = []CodeInfo{
	{CodeUploadInvalid, []Kind{Forbidden}, "The upload address was not issued by this service.", `Create a version with "upload": true to get an address.`},
	{CodeUploadExpired, []Kind{Forbidden}, "The upload address has expired.", "Create another version."},
	{CodeUploadEmpty, []Kind{BadRequest}, "The uploaded bundle is empty.", "Upload the bundle again; the address stays valid."},
	{CodeUploadFailed, []Kind{Unavailable}, "The bundle could not be stored.", "Upload it again."},
	{CodeAlreadyUploaded, []Kind{Conflict}, "The bundle of the version is already stored.", "Create another version to deploy another bundle."},
	{CodeArtifactMissing, []Kind{NotFound}, "No bundle arrived in the artifacts bucket in time.", "Upload the bundle before or right after the create call, or raise SVC_ARTIFACT_WAIT."},
	{CodeArtifactUnreadable, []Kind{Unavailable}, "The artifact store did not return the bundle.", "Read the daemon's log and GET /v1/health/deep."},
	{CodeBundleFromUnknown, []Kind{Unprocessable}, "The version whose bundle is asked for does not exist.", "Name a version of the project that is not destroyed."},
	{CodeDigestMismatch, []Kind{Unprocessable, Conflict}, "The bundle is not the one that the version was created for.", "Upload the right bundle under a new version id."},
	{CodeBundleTruncated, []Kind{Unprocessable}, "The bundle ends early.", "Upload it again."},
	{CodeBundleFormat, []Kind{Unprocessable}, "The bundle is not a readable tar.zst or tar.gz.", "Write it with svcctl bundle, or see docs/design/bundle-format.md."},
	{CodeBundlePath, []Kind{Unprocessable}, "The bundle holds a path that is not allowed.", "Write it with svcctl bundle."},
	{CodeBundleTooLarge, []Kind{TooLarge}, "The bundle exceeds the size limit.", "Make the bundle smaller, or raise the limit of the server."},
	{CodeBundleMismatch, []Kind{Unprocessable}, "The files of the bundle differ from its manifest.", "Write it with svcctl bundle."},
	{CodeManifestInvalid, []Kind{Unprocessable}, "The manifest of the bundle is malformed.", "Correct what errors[].pointer names, or write the bundle with svcctl bundle."},
	{CodeManifestVersion, []Kind{Unprocessable}, "The server does not read this version of the bundle format.", "Upgrade the server, or write the bundle with an older client."},
	{CodeModuleTypeUnknown, []Kind{Unprocessable}, "A module has an unknown type.", "Use a type that the error lists."},
	{CodeInvalidBindings, []Kind{Unprocessable}, "The bindings of the bundle are invalid.", "Correct what errors[].pointer names."},
	{CodeBindingDuplicate, []Kind{Unprocessable}, "Two bindings have the same name.", "Rename one of them."},
	{CodeBindingInvalid, []Kind{Unprocessable}, "The declaration of a binding is invalid.", "Correct the binding."},
	{CodeBindingUnknownKind, []Kind{Unprocessable}, "The service does not run bindings of this kind.", "Use a kind that the error lists."},
	{CodeMigrationsInvalid, []Kind{Unprocessable}, "Migrations are declared for a binding that cannot have them.", "Correct the migrations of the project file."},
	{CodeAssetMissing, []Kind{Unprocessable}, "The object store does not have a static file of the version.", "Upload the assets before the bundle, as svcctl deploy does."},
	{CodeAssetMismatch, []Kind{Unprocessable}, "A static file has not the size or hash that was announced.", "Deploy again, and do not change the files meanwhile."},
	{CodeAssetsAnnounced, []Kind{Conflict}, "Other static files were announced for the version before.", "Create another version to deploy other files."},
	{CodeSeedsInvalid, []Kind{Unprocessable}, "Seeds are declared for a binding that cannot have them.", "Correct the names of the seed files."},
}
