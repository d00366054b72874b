// Package pages makes a worker of the Pages Functions of a project: the folder functions/,
// whose files answer the requests that their paths name. The worker is the text of an entry
// module, which imports the files that have handlers, and routes as Cloudflare Pages does.
package pages
