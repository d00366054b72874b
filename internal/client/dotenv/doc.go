// Package dotenv reads files of variables in the form that npm's dotenv made common:
// .env, .dev.vars, and what svcctl deploy takes by --env-file and --secrets-file.
// Values may be secrets, so that its errors never hold one.
//
// Packages cli and dev read such files by it.
package dotenv
