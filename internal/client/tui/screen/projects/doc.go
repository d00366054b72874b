// Package projects is the screen of all projects.
package projects
