// Package exchange makes the heads of requests for runtimes and of responses for clients, the same for
// every engine. spec: [C6.6] [D44] [D45].
//
// A Request is a request, its response and its result. An engine reads the head of a client into
// it; Inspect takes what concerns the gateway, and AppendRequest makes the head for the runtime: the
// names and addresses that visitors cannot choose, request.cf, and the trace. AppendResponse makes the
// head for the client, AppendRefusal an error of the gateway itself.
//
// Service has what the requests of all engines share. Forward claims the runtime of a request, waits
// if it must, calls the engine to send the request, and tries again where no worker has seen it. An event loop
// cannot wait: it calls ClaimFor, the first step of Forward, and hands requests that have to wait
// over to an engine that calls Forward. Account reports each request once.
//
// A static file is a response without a runtime: small files stay in memory, because a loop may not
// wait for a disk. Text is compressed if the client accepts it.
//
// The methods of Service are safe for concurrent use. A Request belongs to one goroutine at a time; the
// slices in it point into the buffers of its engine.
package exchange
