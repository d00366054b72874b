// Package webhooks sends events of the registry to addresses that people choose, as Standard Webhooks
// (https://www.standardwebhooks.com) or as a sentence for a chat.
//
// Each webhook has a cursor in the table of events: an event becomes a delivery in the transaction that
// moves the cursor, and a delivery is tried until the receiver accepts it or the tries end. So each event
// arrives at least once, over restarts too, and may arrive twice. One goroutine makes deliveries, some
// send them. Without a webhook nothing runs.
//
// The secret of a webhook is derived from a key of the server and stored nowhere. Addresses of private
// networks are refused when the connection is made, after the name was resolved, unless the operator
// allows them; redirects are answers that are not followed, and no proxy is used.
//
// The daemon wires a [Service]; it is safe for concurrent use.
package webhooks
