// Package server is the screen of the server and its settings.
package server
