// Package demo is svcctl demo: a tour of a server in a temporary directory, with the example guestbook.
package demo
