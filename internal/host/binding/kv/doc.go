// Package kv is the binding kind "kv": key-value namespaces, on the protocol
// that workerd's own binding speaks. What a worker sees (answers, limits and
// the words of errors) follows the key-value worker inside workerd.
//
// Ownership: all namespaces of a version are tables of its database "sys", told
// apart by a number. Values are kept in the row.
//
// Expiration: a key that has expired is not seen any more; its row goes when
// the key is written, when any key is put, or when the namespace is opened.
//
// Concurrency: reads run side by side, writes one after another.
package kv
