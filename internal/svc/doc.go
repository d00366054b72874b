// Package svc is the vocabulary of the service: projects, versions, their
// statuses and the transitions between them, hosts and URLs, environment rules
// and the one error type. It imports the standard library only and touches
// nothing outside its arguments, so every other package may use its words.
//
// Values are plain data: copy them freely, they hold no locks and no handles.
package svc
