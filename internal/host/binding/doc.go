// Package binding is the extension point for resources a worker sees. A Kind
// lives in one folder and answers: is this declaration right, where is its
// data, what does workerd need, and what serves its requests. No other part of
// the program learns a kind's name; internal/host/binding/all lists them.
//
// Ownership: the runtime host opens one Instance per resource, serves it on the
// private socket of the version, and closes it after workerd is gone.
// Concurrency: an Instance serves concurrent requests.
package binding
