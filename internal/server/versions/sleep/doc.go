// Package sleep stops the processes of versions that nothing asks for, and starts them
// again in time.
//
// A version sleeps when it had no request, websocket and work of its own for a while, and
// none is due soon. Its status stays ready. It is started by a request, which the gateway
// holds; by a call of the API that needs its worker host; and by its own next work: a cron
// trigger, a message, an instance of a workflow, the alarm of an object. The registry
// records which versions sleep and when each must run next, so that a daemon that starts
// with a thousand of them starts none.
//
// Package deploy stops and starts the runtimes and publishes them to the gateway; package
// janitor calls SleepIdle. Services that ask about a version, or use its data, do so
// through the Service, which starts the version first where that is necessary. A Service is safe for concurrent use. Its goroutines end with
// Stop.
package sleep
