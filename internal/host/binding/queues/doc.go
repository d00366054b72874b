// Package queues has the binding kinds of message queues: queue_producer, on the
// protocol that workerd's own binding speaks, and queue_consumer, which sends the
// worker batches of messages. Limits, defaults and the rules of a delivery are
// Cloudflare's.
//
// Ownership: all queues of a version are rows of its database "sys", so that a child
// begins with the messages at the cut. Only leases are in memory: the worker host that
// has the version open is the only consumer, and a lease ends with it.
//
// Delivery: at least once. A message is deleted in the transaction that records how its
// delivery ended. Deliveries under way are recorded, so that one that a crash cut off
// counts as an attempt.
//
// Concurrency: a queue serves concurrent requests; one goroutine of the consumer
// chooses the batches, and each batch has a goroutine of its own. A queue with nothing
// due has no timer.
package queues
