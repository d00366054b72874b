// Package service starts and stops the parts of a program in one order.
//
// A part is made without side effects and works after its Start; its Stop
// returns when none of its goroutines runs. The context of Start bounds the
// start. The context of Stop bounds the drain: when it ends, Stop cancels the
// work in progress and waits for that to return.
//
// A [Stack] holds the parts of a program and stops the latest one first. A
// [Work] is the usual implementation of a part's Stop: it counts the work in
// progress. A [Late] and an [Event] connect parts that need each other: they are
// set and subscribed to before anything starts. Zero values are ready to use and must not be copied; the methods of
// a Work are safe for concurrent use, those of a Stack are not. The daemon holds
// a Stack, services of the server hold a Work; service imports only the standard
// library.
package service
