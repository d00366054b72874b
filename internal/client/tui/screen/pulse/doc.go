// Package pulse is the first screen: the health of the server and its projects.
package pulse
