// Package tree is the screen of the data branches of a project.
package tree
