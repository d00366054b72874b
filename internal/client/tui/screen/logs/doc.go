// Package logs is the screen of a followed log.
package logs
