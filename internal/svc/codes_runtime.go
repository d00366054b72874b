package svc

// The codes of the processes of a version, and the gateway.
const (
	CodeWorkerdExited      = "workerd_exited"
	CodeUnresponsive       = "unresponsive"
	CodeHostExited         = "host_exited"
	CodeUnconfined         = "confinement_unsupported"
	CodeIsolation          = "isolation_unavailable"
	CodeIsolationUIDs      = "isolation_uids_used"
	CodeAddressesChanged   = "addresses_changed"
	CodeUnknownMethod      = "unknown_method"
	CodeNotServing         = "not_serving"
	CodeRuntimeOpen        = "runtime_open"
	CodeRuntimeNotOpen     = "runtime_not_open"
	CodeRuntimeRestarting  = "runtime_restarting"
	CodeRelayUnreachable   = "relay_unreachable"
	CodeRuntimeStopping    = "runtime_stopping"
	CodeVersionNotServing  = "version_not_serving"
	CodeRuntimeUnavailable = "runtime_unavailable"
	CodeHandlerMissing     = "handler_missing"
	CodeObjectsNotSync     = "durable_objects_not_sync"
	CodeAssetUnreadable    = "asset_unreadable"
	CodeRouteNotFound      = "route_not_found"
	CodeBadRequest         = "bad_request"
	CodeHeaderTooLarge     = "header_too_large"
	CodeTooManyConnections = "too_many_connections"
)

//nolint:gochecknoglobals // a constant table
var runtimeCodes = []CodeInfo{
	{CodeWorkerdExited, []Kind{Unavailable}, "workerd ended; the service restarts it.", "Read the log of the version."},
	{CodeUnresponsive, []Kind{Unavailable}, "The worker answered no ping and was killed; the service restarts it.", "Remove the loop that blocks the worker."},
	{CodeHostExited, []Kind{Unavailable}, "The worker host ended; the service restarts it.", "Read the host's log in the log directory of the version."},
	{CodeUnconfined, []Kind{Unavailable}, "SVC_WORKER_CONFINE=require is set, and the kernel cannot confine workerd.", "Use a kernel with Landlock and seccomp, or set it to auto."},
	{CodeIsolation, []Kind{Conflict, Unavailable}, "SVC_ISOLATION=user is set, and the server, or a machine that runs versions, may not give workerd a user of its own.", "Do what the hint says, or set SVC_ISOLATION=process."},
	{CodeIsolationUIDs, []Kind{Unavailable}, "All uids of SVC_ISOLATION_UIDS are in use.", "Set a larger range, or archive versions."},
	{CodeAddressesChanged, []Kind{Unavailable}, "The machine has a new address; the service restarts the version so that its worker cannot reach it.", "Nothing: the version serves again in a moment."},
	{CodeUnknownMethod, []Kind{BadRequest}, "The daemon and the worker host do not speak the same protocol.", "Restart the daemon so that both run the same program."},
	{CodeNotServing, []Kind{Unavailable}, "The worker does not serve.", "Try again; the service starts it."},
	{CodeRuntimeOpen, []Kind{Conflict}, "The version already has a runtime.", "Stop the version first."},
	{CodeRuntimeNotOpen, []Kind{Conflict}, "The version has no runtime.", "Start the version."},
	{CodeRuntimeRestarting, []Kind{Unavailable}, "The runtime of the version crashed and is restarted after a wait.", "Try again after Retry-After; read the log of the version."},
	{CodeRelayUnreachable, []Kind{Unavailable}, "A gateway on another machine cannot reach the server that runs the version.", "Try again after Retry-After; `svcctl gateways` lists the gateways that the server hears of."},
	{CodeVersionNotServing, []Kind{Conflict}, "The version does not serve, and the attempt to start it failed or takes long.", "Read the log of the version; the service keeps restarting it."},
	{CodeRuntimeStopping, []Kind{Unavailable}, "The runtime of the version is stopping.", "Try again in a moment."},
	{CodeRuntimeUnavailable, []Kind{Unavailable, Internal}, "The runtime of the version does not answer (HTTP 502 from the gateway).", "Try again; read the log of the version if it continues."},
	{CodeObjectsNotSync, []Kind{Unprocessable}, "The worker has Durable Objects, whose writes cannot wait for the object store, and the server has SVC_DURABILITY=sync.", "Deploy to a server with SVC_DURABILITY=async."},
	{CodeHandlerMissing, []Kind{Unprocessable}, "The worker has no handler for the event.", "Export the handler in the default export of the main module."},
	{CodeAssetUnreadable, []Kind{Internal}, "The file of a static asset cannot be read on the server.", "Deploy the version again, or ask the operator for the log."},
	{CodeRouteNotFound, []Kind{NotFound}, "No version is served on this host name.", "Check the host name, or promote a version."},
	{CodeBadRequest, []Kind{BadRequest}, "The gateway cannot parse the request.", "Send valid HTTP/1.1."},
	{CodeHeaderTooLarge, []Kind{TooLarge}, "The request's header exceeds the limit of the gateway (HTTP 431).", "Send a smaller header."},
	{CodeTooManyConnections, []Kind{Unavailable}, "The server, or a version, serves as many connections as it may.", "Try again after Retry-After, or raise the limit that the server's log names."},
}
