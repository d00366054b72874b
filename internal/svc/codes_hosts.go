package svc

// The codes of hosts on other machines.
const (
	CodeHostTokenInvalid    = "host_token_invalid"
	CodeHostDaemonUntrusted = "host_daemon_untrusted"
	CodeHostClockSkew       = "host_clock_skew"
	CodeHostOtherRelease    = "host_other_release"
	CodeHostSilent          = "host_silent"
	CodeHostBundle          = "host_bundle_unavailable"
	CodeNoSpareHost         = "no_spare_host"
	CodeClusterUnavailable  = "cluster_unavailable"
	CodeClusterForbidden    = "cluster_forbidden"
	CodePodTaken            = "pod_taken"
	CodeRegistryCopyLate    = "registry_copy_late"
	CodeRuntimeLocalOnly    = "runtime_local_only"
)

//nolint:gochecknoglobals // a constant table
var hostCodes = []CodeInfo{
	{CodeHostTokenInvalid, []Kind{BadRequest, Forbidden}, "A machine showed a join token that is malformed, or that the daemon does not accept.", "Get a token with svcctl admin hosts token, and start svcd host with it."},
	{CodeHostDaemonUntrusted, []Kind{Forbidden}, "The daemon that a machine dialed does not have the key that the join token pins.", "Check the address after --join, or get a new token with svcctl admin hosts token."},
	{CodeHostClockSkew, []Kind{Conflict}, "The clocks of a machine and of the daemon differ by more than 5 minutes.", "Set the clock, for example by NTP."},
	{CodeHostOtherRelease, []Kind{Conflict}, "A machine runs another release than the daemon.", "Install the release of the daemon on the machine."},
	{CodeHostSilent, []Kind{Unavailable}, "The machine of the version did not answer; the service opens the version on another one.", "Nothing; look at svcctl nodes if it happens often."},
	{CodeHostBundle, []Kind{Unavailable}, "A machine cannot read the bundle of the version from the object store.", "Check that the machine reaches the object store."},
	{CodeNoSpareHost, []Kind{Unavailable}, "No machine has a worker host for the version.", "Start svcd host on another machine, or with more --seats; see svcctl nodes."},
	{CodeClusterUnavailable, []Kind{Unavailable, Unprocessable}, "The API server of the Kubernetes cluster does not answer, or no cluster is configured.", "Check that the server reaches the cluster; versions that run serve on meanwhile."},
	{CodeClusterForbidden, []Kind{Unavailable}, "Kubernetes refuses what the server asks: a right, a quota or an admission policy is missing.", "Apply the manifests of svcctl admin manifests kubernetes, and read the words of Kubernetes in the error."},
	{CodePodTaken, []Kind{Conflict}, "A spare pod was deleted or claimed before the version got it; the server takes another one.", "Nothing."},
	{CodeRegistryCopyLate, []Kind{Unavailable}, "With SVC_REGISTRY_SYNC=1 a change was made, and its copy could not be stored in time.", "Repeat the request; check the object store."},
	{CodeRuntimeLocalOnly, []Kind{Unprocessable}, "The feature needs SVC_RUNTIME=local.", "Use a server with SVC_RUNTIME=local."},
}
