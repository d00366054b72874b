// Package project reads a worker's project file: wrangler.json, wrangler.jsonc,
// wrangler.toml or cloudflare.config.ts, or the Build Output that a tool made of one. It takes what this program runs, refuses by name what it
// does not, warns of keys that it does not know, and says once which keys it passed
// over.
//
// Every problem of a file is reported in one *svc.Error, each with file, line
// and column: config_not_found, config_invalid (syntax or a wrong type),
// config_unsupported (a feature that is not run here), config_env_unknown.
//
// Load reads the disk and changes nothing. Its result belongs to the caller.
package project
