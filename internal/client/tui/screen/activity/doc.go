// Package activity is the screen of what happens on the server: the deploys that run
// and wait, and the events, newest first.
package activity
