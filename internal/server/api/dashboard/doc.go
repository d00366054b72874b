// Package dashboard is the dashboard in the browser, which the daemon serves at the
// API's port.
//
// It is a client of the API: each page calls the API's handler in the same process with
// the token of the session, so the rules, roles and audit records are those of the API,
// and a revoked token ends its sessions. It never reads the services themselves.
//
// Pages are rendered here with html/template. The script in front/ only follows events,
// exchanges parts of a page for newer ones, and helps the keyboard; each page works
// without it. `go generate` bundles the script and the style into static/ with esbuild.
//
// Safety: a strict Content-Security-Policy without inline code or style on each answer,
// an HttpOnly SameSite=Strict session cookie, and for each change a check of the origin
// and a token of the session in the form. The paths below /v1 never accept the cookie.
// Pages are not compressed, because they hold that token (BREACH).
package dashboard

//go:generate go -C ../../../.. run github.com/evanw/esbuild/cmd/esbuild internal/server/api/dashboard/front/app.ts internal/server/api/dashboard/front/app.css --bundle --minify --charset=utf8 --target=es2022 --outdir=internal/server/api/dashboard/static --log-level=warning
