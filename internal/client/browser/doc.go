// Package browser opens a URL in the user's browser.
//
// Package cli calls it, for svcctl open and svcctl dashboard.
package browser
