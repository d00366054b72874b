// Package versions is the screen of the versions of a project.
package versions
