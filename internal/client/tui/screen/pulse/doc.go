// Package pulse is the first screen: whether the server and its projects are well.
package pulse
