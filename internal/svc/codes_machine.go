package svc

// The codes of the machine that the daemon runs on.
const (
	CodeAddressInUse               = "address_in_use"
	CodeAddressUnusable            = "address_unusable"
	CodeCertificateUnusable        = "certificate_unusable"
	CodeRootRefused                = "root_refused"
	CodeDataDirInUse               = "data_dir_in_use"
	CodeRegistryInUse              = "registry_in_use"
	CodeDataDirEmpty               = "data_dir_empty"
	CodeCopyMissing                = "copy_missing"
	CodeRecoveryKeyWrong           = "recovery_key_wrong"
	CodeFormatNewer                = "format_newer"
	CodeFormatOlder                = "format_older"
	CodeWorkerdInvalid             = "workerd_invalid"
	CodeWorkerdWrongVersion        = "workerd_wrong_version"
	CodeWorkerdNotInstalled        = "workerd_not_installed"
	CodeWorkerdUnusable            = "workerd_unusable"
	CodeWorkerdPlatformUnsupported = "workerd_platform_unsupported"
	CodeWorkerdNPMMissing          = "workerd_npm_missing"
	CodeWorkerdInstallFailed       = "workerd_install_failed"
	CodeWorkerdChecksumMismatch    = "workerd_checksum_mismatch"
)

//nolint:gochecknoglobals // a constant table
var machineCodes = []CodeInfo{
	{CodeAddressInUse, []Kind{Conflict}, "Another process listens at the port.", "Set a free port, or 0 to choose one."},
	{CodeAddressUnusable, []Kind{Unprocessable}, "The daemon cannot listen at the address.", "Set SVC_LISTEN_HOST to an address of this machine."},
	{CodeCertificateUnusable, []Kind{Unprocessable}, "A file of SVC_TLS_CERT or SVC_TLS_KEY is missing, or they do not fit.", "Correct the settings, or the files."},
	{CodeRootRefused, []Kind{Conflict}, "The server runs as root, is reachable from outside, and its kernel cannot confine workerd.", "Run it as a user of its own, or set SVC_ALLOW_ROOT=1."},
	{CodeDataDirInUse, []Kind{Conflict}, "Another daemon uses the data directory.", "Stop the other daemon, or set another --data-dir."},
	{CodeRegistryInUse, []Kind{Conflict}, "Another daemon uses the registry.", "Stop the other daemon, or set another SVC_REGISTRY_DB."},
	{CodeDataDirEmpty, []Kind{NotFound}, "No server has run in the data directory.", "Set SVC_DATA_DIR to the server's data directory."},
	{CodeCopyMissing, []Kind{NotFound}, "The place has no copy of a registry.", "Name the bucket of SVC_ARTIFACTS_BUCKET of the lost server, or the place of a backup."},
	{CodeRecoveryKeyWrong, []Kind{Forbidden}, "The copy of the registry was encrypted with another recovery key.", "Use the key that svcctl admin recovery-key printed on the lost server."},
	{CodeFormatOlder, []Kind{Unprocessable}, "A program before version 0.1.0 wrote the file or object.", "Start with an empty data directory, or run the program that wrote it."},
	{CodeFormatNewer, []Kind{Unprocessable}, "A newer release wrote the file or object.", "Run that release, or restore a backup from before the upgrade."},
	{CodeWorkerdInvalid, []Kind{BadRequest}, "SVC_WORKERD does not name an executable for this platform.", "Correct the path, or unset SVC_WORKERD to have workerd installed."},
	{CodeWorkerdWrongVersion, []Kind{BadRequest}, "SVC_WORKERD names another version of workerd.", "Use the version that the hint names, or unset SVC_WORKERD."},
	{CodeWorkerdNotInstalled, []Kind{NotFound}, "workerd is not installed.", "Run svcctl runtime install."},
	{CodeWorkerdUnusable, []Kind{Unavailable}, "workerd was installed and does not run on this machine.", "Use a Linux with glibc, or set SVC_WORKERD to a build that runs."},
	{CodeWorkerdPlatformUnsupported, []Kind{Unavailable}, "There is no workerd package for this platform.", "Install workerd yourself and set SVC_WORKERD to its path."},
	{CodeWorkerdNPMMissing, []Kind{Unavailable}, "npm is not installed, so workerd cannot be installed.", "Install Node.js with npm, or set SVC_WORKERD."},
	{CodeWorkerdInstallFailed, []Kind{Unavailable}, "The installation of workerd failed.", "Try again, or set SVC_WORKERD."},
	{CodeWorkerdChecksumMismatch, []Kind{Unavailable}, "The downloaded workerd is not the expected file.", "Try again; if it continues, check the npm registry or the cache in between."},
}
