// Package examples holds the workers of the documentation. The guestbook is in the program, for svcctl demo.
package examples

import "embed"

// Guestbook has the directory guestbook. Its files are named: a clone may have node_modules in it.
//
//go:embed guestbook/wrangler.jsonc guestbook/package.json guestbook/tsconfig.json guestbook/migrations guestbook/src
var Guestbook embed.FS
